import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startUpstream } from '../runtimes/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { type Example, type ExampleOptions, findFreePort, openExample, RUN_MS, type Started, until } from './example.ts'

export interface ServedOptions extends ExampleOptions {
  /** The address in the README, such as `127.0.0.1:3000/ai`. The test replaces its port. */
  address: string
  /** Variables that the README expects from the user's shell, in addition to `OPENAI_API_KEY`. */
  env?: Record<string, string>
  /** The command that starts the server. Default: the last one before the request in the README. */
  command?: string
  /** Returns the arguments that set another port. Default: none, because the command reads `PORT`. */
  portArguments?(port: number): string
}

/** An example that serves a gateway, started as in its README, with a mocked provider instead of OpenAI. */
export interface ServedExample {
  readonly example: Example
  /** Includes the path at which the gateway is mounted. */
  readonly url: string
  /** The variables in the `.env` file that the README creates. */
  readonly secrets: Readonly<Record<string, string>>
  readonly started: Started
  restart(): Promise<void>
  /** Calls the management API with the admin token. */
  manage(method: string, path: string, body?: object): Promise<Response>
  /** Runs the request in the README. Resolves to curl's output. */
  send(): Promise<string>
  /** Lists the models with this key. Each call opens a new connection, because several processes on one port take turns by connection. */
  models(key: string): Promise<Response>
  close(): Promise<void>
}

const HELLO = /"Hel"[\s\S]*"lo"[\s\S]*data: \[DONE\]/

export async function serveExample(name: string, options: ServedOptions): Promise<ServedExample> {
  const upstream = await startUpstream()
  const example = await openExample(name, options)
  const index = example.blocks.findIndex((commands) => commands.some((command) => command.startsWith('curl ')))
  const setup = example.blocks.slice(0, index).flat()
  const usage = example.blocks[index] ?? []
  const port = await findFreePort()
  const command = `${options.command ?? setup.at(-1)}${options.portArguments?.(port) ?? ''}`
  const host = `127.0.0.1:${port}`
  const url = `http://${options.address.replace(/^[^/]+/, host)}`
  let started: Started | undefined

  async function start(): Promise<void> {
    const own = example.start(command, { PORT: String(port) })
    started = own
    await until(own, async () => (await fetch(`${url}/health`).catch(() => undefined))?.ok)
  }
  async function close(): Promise<void> {
    await example.remove()
    upstream.close()
  }

  try {
    const created = await example.run(setup.slice(0, -1).join('\n'), { OPENAI_API_KEY: 'sk-openai', ...options.env })
    assert.is(created.code, 0, created.output)
    const lines = (await readFile(join(example.folder, '.env'), 'utf8')).trim().split('\n')
    const secrets = Object.fromEntries(lines.map((line) => line.split(/=(.*)/, 2)))
    await start()

    const manage = (method: string, path: string, body?: object) =>
      fetch(`${url}/api${path}`, {
        method,
        headers: { authorization: `Bearer ${secrets.SIGNALBOX_ADMIN_TOKEN}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    const moved = await manage('PUT', '/connections/openai', { baseUrl: upstream.url, apiKey: 'sk-openai' })
    assert.is(moved.status, 200, await moved.text())

    return {
      example,
      url,
      secrets,
      get started() {
        return started as Started // started above
      },
      async restart() {
        await started?.stop()
        await start()
      },
      manage,
      async send() {
        const request = usage.join('\n').replaceAll(options.address.split('/')[0] ?? '', host)
        assert.ok(request.includes(url), `the README doesn't send its request to ${options.address}`)
        const { code, output } = await example.run(request)
        assert.is(code, 0, output)
        return output
      },
      models: (key) => fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}`, connection: 'close' } }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Tests the behavior that every example with a server must have. Returns the suite for example-specific tests. */
export function testExample(name: string, open: () => ServedOptions | Promise<ServedOptions>, title = name) {
  const test = suite<{ server: ServedExample }>(`the ${title} example`)

  test.before({ timeoutMs: RUN_MS + 60_000 }, async (context) => {
    context.server = await serveExample(name, await open())
  })
  test.after(({ server }) => server?.close())

  test('the request in the README gets a stream from the mocked provider', async ({ server }) => {
    assert.match(await server.send(), HELLO)
  })

  test('a request without a key, or with a wrong one, gets a 401', async ({ server }) => {
    assert.is((await fetch(`${server.url}/v1/models`)).status, 401)
    assert.is((await server.models(`sbx_${'0'.repeat(64)}`)).status, 401)
    assert.is((await server.models(server.secrets.APP_KEY ?? '')).status, 200)
  })

  test('the management API accepts only the admin token', async ({ server }) => {
    const open = (token?: string) =>
      fetch(`${server.url}/api/keys`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })
    assert.is((await open()).status, 401)
    assert.is((await open(server.secrets.APP_KEY)).status, 401)
    assert.is((await open(server.secrets.SIGNALBOX_ADMIN_TOKEN)).status, 200)
  })

  test('the example keeps its data after a restart', async ({ server }) => {
    const created = await server.manage('POST', '/keys', { name: 'made before' })
    assert.is(created.status, 201, await created.clone().text())
    const { key } = await created.json()
    await server.restart()
    assert.is((await server.models(key)).status, 200)
    assert.match(await server.send(), HELLO)
  })

  return test
}

/** Checks that a start without access to the store ends with exit code 1, and that each process prints one line with the reason and the fix. */
export async function assertExitReason(server: ServedExample, env: Record<string, string>, why: RegExp): Promise<void> {
  const { code, output } = await server.example.run('npm start', { PORT: String(await findFreePort()), ...env })
  assert.is(code, 1, output)
  const lines = output
    .split('\n')
    .filter((line) => !/^(?:$|> |\$ |Task start |npm |error: script |\s*[▲✓-] )/.test(line)) // output of the script runner and of Next
    .filter((line) => !line.startsWith('Another writer also has this store open.')) // a slow start notices the running example
  assert.ok(lines.length > 0, output)
  for (const line of lines) assert.match(line, why, output)
}

/** Checks the same for data that was encrypted with another secret. */
export function addWrongSecretTest(test: ReturnType<typeof testExample>): void {
  test('the example exits with a one-line error if the secret has changed', { timeoutMs: RUN_MS }, ({ server }) =>
    assertExitReason(
      server,
      { SIGNALBOX_SECRET: 'another secret of at least 32 characters' },
      /^The gateway cannot start: The secret does not match this storage\. .* Start the gateway with that secret\.$/,
    ),
  )
}

/** Checks that a start without the README's variables ends with exit code 1, and lists each missing variable. */
export function testMissingVariables(name: string, needed: string[]) {
  const test = suite(`the ${name} example without its variables`)
  test('the example lists missing variables and exits with code 1', { timeoutMs: RUN_MS }, async () => {
    const example = await openExample(name)
    try {
      await assertMissingListed(example, needed)
    } finally {
      await example.remove()
    }
  })
}

/** Checks the same for an example without a `.env` file. */
export async function assertMissingListed(example: Example, needed: string[]): Promise<void> {
  const PORT = String(await findFreePort())
  const none = await example.run('npm start', { PORT })
  assert.is(none.code, 1, none.output)
  assert.match(none.output, `Set ${needed.join(', ')}: see README.md`)
  const others = Object.fromEntries(needed.slice(1).map((variable) => [variable, 'any']))
  const one = await example.run('npm start', { ...others, PORT })
  assert.is(one.code, 1, one.output)
  assert.match(one.output, `Set ${needed[0]}: see README.md`)
}
