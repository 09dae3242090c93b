/** The peer process: runs statements on a DuckDB database, and reads the results of queries. */
import { DuckDBInstance } from '@duckdb/node-api'

const [database, ...statements] = process.argv.slice(2)
const instance = await DuckDBInstance.create(database)
const connection = await instance.connect()
for (const statement of statements) await (await connection.run(statement)).getRows()
