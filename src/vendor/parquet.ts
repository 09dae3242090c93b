export { ByteWriter } from 'hyparquet-writer/src/bytewriter.js'
export { writePageHeader } from 'hyparquet-writer/src/datapage.js'
export { writeMetadata } from 'hyparquet-writer/src/metadata.js'
