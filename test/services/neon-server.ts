import { createRequire } from 'node:module'
import { type Front, startFront } from './http-front.ts'

interface Result {
  command: string
  rowCount: number
  fields: Array<{ name: string; dataTypeID: number }>
  rows: unknown[][]
}

interface Pool {
  query(query: object): Promise<Result>
  on(event: 'error', listener: () => void): void
  end(): Promise<void>
}

const asText = { getTypeParser: () => (value: string) => value }

/**
 * Starts the API that Neon's driver calls, `POST /sql`, in front of a real Postgres. `packages` is the URL of a file from which `pg` can be resolved.
 */
export async function startNeon(connectionString: string, packages = import.meta.url): Promise<Front> {
  const { Pool } = createRequire(packages)('pg') as { Pool: new (options: object) => Pool }
  const pool = new Pool({ connectionString, max: 20 })
  pool.on('error', () => {}) // dropping the database ends connections that are still closing

  const front = await startFront(async (_, request) => {
    const { query, params } = JSON.parse(request)
    const reply = (status: number, body: object) => ({ status, body: JSON.stringify(body) })
    try {
      const { command, rowCount, fields, rows } = await pool.query({
        ...{ text: query, values: params, rowMode: 'array', types: asText },
      })
      return reply(200, { command, rowCount, fields, rows, rowAsArray: true })
    } catch (error) {
      const { message, code, severity, detail } = error as Record<string, unknown>
      return reply(400, { message, code, severity, detail })
    }
  })
  const { close } = front
  return Object.assign(front, {
    url: `${front.url}/sql`,
    async close() {
      await close()
      await pool.end()
    },
  })
}
