import { getMigrations } from 'better-auth/db/migration'
import { postgresMigration } from 'signalbox/storage/postgres'
import { auth } from './auth.ts'
import { sql } from './database.ts'

// Creates the tables before each build, if they don't exist yet.
const { runMigrations } = await getMigrations(auth.options)
await runMigrations()
await sql.query(postgresMigration())
