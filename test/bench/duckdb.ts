/** The peer process: loads a CSV into a durable DuckDB table, or filters a CSV. */
import { DuckDBInstance } from '@duckdb/node-api'

const [csv, target, where] = process.argv.slice(2)
const instance = await DuckDBInstance.create(where === undefined ? target : ':memory:')
const connection = await instance.connect()
if (where === undefined) {
  await connection.run(`create table t as select * from read_csv('${csv}')`)
  await connection.run('checkpoint')
} else await connection.run(`copy (select * from read_csv('${csv}') where ${where}) to '${target}'`)
