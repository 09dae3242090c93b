export { type Entry, fromRandomAccessReader, RandomAccessReader, type ZipFile } from 'yauzl'
