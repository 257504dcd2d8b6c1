import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Front } from '../../services/http-front.ts'
import { startNeon } from '../../services/neon-server.ts'
import { startPostgres } from '../../services/postgres-server.ts'
import { assert } from '../../support/suite.ts'
import { type Example, findFreePort, openExample, until } from '../example.ts'

/** The deployment's hostname. The platform's proxy terminates TLS. */
export const HOST = 'chat.vercel.test'

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

export interface Options {
  cookie?: string | undefined
  body?: object
  origin?: string
}

/** A function instance that has started but hasn't received a request yet. */
export interface Instance {
  url: string
  send(method: string, path: string, options?: Options): Promise<Reply>
  /** Resolves when the instance is gone. */
  ended: Promise<unknown>
  stop(): Promise<unknown>
}

/** The example as deployed: built, with a Neon database and a provider. */
export interface Deployment {
  example: Example
  neon: Front
  /** The number of database round trips before each provider call, since `neon.measure`. */
  calls: number[]
  /** Runs a statement, as Neon's console would. */
  query(statement: string): Promise<{ rows: Array<Record<string, unknown>> }>
  /** Starts an instance. Unless `isKept` is set, the platform ends it after its first request and the `waitUntil` work. */
  start(options?: { isKept?: boolean }): Promise<Instance>
  /** Sends a request to a new instance, and waits until the instance has ended. */
  send(method: string, path: string, options?: Options): Promise<Reply>
  remove(): Promise<void>
}

interface Client {
  connect(): Promise<unknown>
  query(statement: string): Promise<{ rows: Array<Record<string, unknown>> }>
  end(): Promise<void>
}

/** Builds the example with its database as the platform does: with only `DATABASE_URL` and a provider key. */
export async function deploy(): Promise<Deployment> {
  const postgres = await startPostgres()
  const { Client } = createRequire(import.meta.url)('pg') as { Client: new (url: string) => Client }
  const database = `signalbox_vercel_${process.pid}`
  const run = async (url: string, statement: string) => {
    const client = new Client(url)
    await client.connect()
    return client.query(statement).finally(() => client.end())
  }
  await run(postgres.url, `CREATE DATABASE ${database}`)
  const own = new URL(postgres.url)
  own.pathname = `/${database}`
  const neon = await startNeon(own.href, import.meta.url)

  const calls: number[] = []
  const provider = createServer(async (_, response) => {
    calls.push(neon.roundTrips)
    const chunk = (choice: object, usage?: object) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, ...choice }], usage })}\n\n`
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ delta: { role: 'assistant', content: 'Hel' } }))
    response.write(chunk({ delta: { content: 'lo' } }))
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
    response.end(`${chunk({ delta: {}, finish_reason: 'stop' }, usage)}data: [DONE]\n\n`)
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')

  const example = await openExample('vercel', { copiesPackages: true })
  const platform = {
    DATABASE_URL: 'postgres://owner:npg_a1B2c3D4e5F6@ep-quiet-sea.neon.test/main?sslmode=require',
    OPENAI_API_KEY: 'sk-openai',
    VERCEL_URL: HOST,
    NODE_OPTIONS: `--import ${fileURLToPath(new URL('runtime.mjs', import.meta.url))}`,
    NEON: neon.url,
    PROVIDER: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
  }
  const built = await example.run('npm run build', platform)
  assert.is(built.code, 0, built.output)

  async function start({ isKept = false } = {}): Promise<Instance> {
    const port = await findFreePort()
    const child = spawn(
      process.execPath,
      [join('node_modules', 'next', 'dist', 'bin', 'next'), 'start', '-p', String(port)],
      {
        cwd: example.folder,
        env: { ...process.env, ...platform, ...(!isKept && { TAKEN_AFTER_RESPONSE: '1' }) },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    let output = ''
    child.stdout.on('data', (part) => {
      output += part
    })
    const ended = once(child, 'close').then(([code]) => ({ code, output }))
    await until({ output, ended }, () => /Ready/.test(output))
    const instance: Instance = {
      url: `http://localhost:${port}`,
      send: (method, path, options) => sendTo(port, method, path, options),
      ended,
      stop() {
        child.kill('SIGKILL')
        return ended
      },
    }
    running.add(instance)
    return instance
  }
  const running = new Set<Instance>()

  return {
    ...{ example, neon, calls, start },
    query: (statement) => run(own.href, statement),
    async send(method, path, options) {
      const instance = await start()
      const reply = await instance.send(method, path, options)
      await instance.ended
      return reply
    },
    async remove() {
      for (const instance of running) await instance.stop()
      await example.remove()
      provider.close()
      await neon.close()
      await run(postgres.url, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
      await postgres.remove()
    },
  }
}

/** Sends a request through the platform's proxy, as a browser would. */
async function sendTo(
  port: number,
  method: string,
  path: string,
  { cookie, body, origin }: Options = {},
): Promise<Reply> {
  const headers = {
    ...{ host: HOST, 'x-forwarded-host': HOST, 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' },
    ...{ 'content-type': 'application/json', origin: origin ?? `https://${HOST}` },
    ...(cookie !== undefined && { cookie }),
  }
  const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false })
  const replied = once(sent, 'response')
  sent.end(body && JSON.stringify(body))
  const [response] = await replied
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}
