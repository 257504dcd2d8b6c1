import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** The API that Neon's driver calls, `POST /sql`, over a real Postgres. */
export interface NeonServer {
  url: string
  /** The queries so far. */
  requests: number
  /** What happens to the next queries instead: the connection is closed after they run, or they wait for a database that sleeps. */
  faults: Array<'cut after' | 'asleep'>
  close(): Promise<void>
}

/** How long a sleeping database takes to start, in ms. */
export const WAKE_MS = 2_000

interface Result {
  command: string
  rowCount: number
  fields: Array<{ name: string; dataTypeID: number }>
  rows: unknown[][]
}

interface Pool {
  query(query: object): Promise<Result>
  end(): Promise<void>
}

const require = createRequire(`${process.cwd()}/test/services/`)
const asText = { getTypeParser: () => (value: string) => value }

export async function startNeon(connectionString: string): Promise<NeonServer> {
  const { Pool } = require('pg') as { Pool: new (options: object) => Pool }
  const pool = new Pool({ connectionString, max: 20 })

  const server = createServer(async (request, response) => {
    state.requests++
    const fault = state.faults.shift()
    const { query, params } = JSON.parse(await text(request))
    if (fault === 'asleep') await sleep(WAKE_MS)
    const send = (status: number, body: object) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    try {
      const { command, rowCount, fields, rows } = await pool.query({
        ...{ text: query, values: params, rowMode: 'array', types: asText },
      })
      if (fault === 'cut after') return void request.socket.destroy()
      send(200, { command, rowCount, fields, rows, rowAsArray: true })
    } catch (error) {
      const { message, code, severity, detail } = error as Record<string, unknown>
      send(400, { message, code, severity, detail })
    }
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const state: NeonServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sql`,
    requests: 0,
    faults: [],
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await pool.end()
    },
  }
  return state
}
