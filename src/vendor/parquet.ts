export { ByteWriter, ParquetWriter } from 'hyparquet-writer'
