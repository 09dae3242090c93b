/** The peer: a CSV into a durable DuckDB table, as a process of its own. */
import { DuckDBInstance } from '@duckdb/node-api'

const [csv, database] = process.argv.slice(2)
const instance = await DuckDBInstance.create(database)
const connection = await instance.connect()
await connection.run(`create table t as select * from read_csv('${csv}')`)
await connection.run('checkpoint')
