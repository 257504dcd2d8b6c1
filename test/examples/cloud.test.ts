import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startUpstream } from '../runtimes/upstream.ts'
import { assert, suite } from '../support/suite.ts'
import { type Example, findFreePort, openExample, RUN_MS, type Started, until } from './example.ts'

const TOKEN = 'an-admin-token-of-forty-characters-or-so'
const PROVIDER_KEY = 'sk-openai-0123456789'
const COMMAND = 'node node_modules/signalbox/dist/cli.js'
const HELLO = /"Hel"[\s\S]*"lo"[\s\S]*data: \[DONE\]/
/** The time that the README and the project promise for going from a running proxy to a verified replica. */
const MINUTE_MS = 60_000

/** The example's proxy, and a gateway started by the command, each on its own port. */
interface World {
  example: Example
  upstream: Awaited<ReturnType<typeof startUpstream>>
  cloud: string
  home: string
  secrets: Record<string, string>
  /** Runs a README block against these URLs. */
  follow(block: number, env?: Record<string, string>): Promise<string>
  restart(): Promise<void>
}

async function openWorld(command: string, portArguments: (port: number) => string): Promise<World> {
  const upstream = await startUpstream()
  const example = await openExample('cloud')
  const setup = example.blocks[0] ?? []
  const [cloudPort, homePort] = [await findFreePort(), await findFreePort()]
  const cloud = `http://127.0.0.1:${cloudPort}`
  const home = `http://127.0.0.1:${homePort}`
  let proxy: Started | undefined

  async function start(script: string, url: string, env: Record<string, string>): Promise<Started> {
    const started = example.start(script, env)
    await until(started, async () => (await fetch(`${url}/health`).catch(() => undefined))?.ok)
    return started
  }
  const startProxy = async () => {
    proxy = await start(`${command}${portArguments(cloudPort)}`, cloud, { PORT: `${cloudPort}` })
  }

  const created = await example.run(setup.slice(0, -1).join('\n'))
  assert.is(created.code, 0, created.output)
  const lines = (await readFile(join(example.folder, '.env'), 'utf8')).trim().split('\n')
  const secrets: Record<string, string> = Object.fromEntries(lines.map((line) => line.split(/=(.*)/, 2)))
  await startProxy()
  await start(`${COMMAND} --port ${homePort} --data home`, home, { SIGNALBOX_ADMIN_TOKEN: TOKEN })
  const connected = await fetch(`${home}/api/connections`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ provider: 'openai', baseUrl: upstream.url, apiKey: PROVIDER_KEY }),
  })
  assert.is(connected.status, 201, await connected.text())

  return {
    example,
    upstream,
    cloud,
    home,
    secrets,
    async follow(block, env = {}) {
      const script = (example.blocks[block] ?? [])
        .filter((line) => !line.startsWith('export '))
        .join('\n')
        .replaceAll('npx signalbox', COMMAND)
        .replaceAll('http://127.0.0.1:8787', cloud)
      const { code, output } = await example.run(script, {
        SIGNALBOX_URL: home,
        SIGNALBOX_ADMIN_TOKEN: TOKEN,
        SIGNALBOX_ENROLLMENT_TOKEN: secrets.SIGNALBOX_ENROLLMENT_TOKEN ?? '',
        ...env,
      })
      assert.is(code, 0, output)
      return output
    },
    async restart() {
      await proxy?.stop()
      await startProxy()
    },
  }
}

const variants = {
  'on a Durable Object': ['npm start', (port: number) => ` -- --port ${port} --ip 127.0.0.1 --inspector-port 0`],
  'on Node': ['npm run start:node', () => ''],
} as const

for (const [title, [command, portArguments]] of Object.entries(variants)) {
  const test = suite<{ world: World }>(`the cloud example ${title}`)

  test.before({ timeoutMs: RUN_MS + 60_000 }, async (context) => {
    context.world = await openWorld(command, portArguments)
  })
  test.after(async ({ world }) => {
    await world?.example.remove()
    world?.upstream.close()
  })

  test("the README's commands enable cloud sync, send a request, sync, and disable cloud sync", {
    timeoutMs: RUN_MS,
  }, async ({ world }) => {
    const { follow, cloud, home, restart } = world
    const startedAt = performance.now()
    const enabled = await follow(1)
    assert.ok(performance.now() - startedAt < MINUTE_MS, `it took ${performance.now() - startedAt} ms`)
    assert.match(enabled, 'Cloud sync is on, and a test request to the cloud succeeded.')
    const key = /^key +(sbx_\S+)$/m.exec(enabled)?.[1] ?? ''
    assert.ok(key, enabled)

    const send = () => follow(2, { SIGNALBOX_KEY: key })
    assert.match(await send(), HELLO)
    await restart()
    assert.match(await send(), HELLO)

    const models = async (bearer: string) =>
      (await fetch(`${cloud}/v1/models`, { headers: { authorization: `Bearer ${bearer}`, connection: 'close' } }))
        .status
    assert.is(await models(''), 401)
    assert.is(await models(TOKEN), 401)
    assert.is(await models(world.secrets.SIGNALBOX_ENROLLMENT_TOKEN ?? ''), 401)
    assert.is((await fetch(`${cloud}/api/keys`, { headers: { authorization: `Bearer ${TOKEN}` } })).status, 404)

    const id = /^id +(\S+)$/m.exec(enabled)?.[1] ?? ''
    const paused = await fetch(`${home}/api/keys/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: '{"isActive":false}',
    })
    assert.is(paused.status, 200)
    const pausedAt = performance.now()
    let status = await models(key)
    while (status === 200 && performance.now() - pausedAt < 5_000) status = await models(key)
    assert.is(status, 403, 'within five seconds')

    const ended = await follow(3)
    assert.match(ended, /cloudEnabled +true[\s\S]*Synced with the cloud\.[\s\S]*Cloud sync is off\./)
    assert.is(await models(key), 401)
  })
}

const test = suite('the deployed cloud example')

test('the deployment command in the README includes all bindings', { timeoutMs: RUN_MS }, async () => {
  const example = await openExample('cloud')
  try {
    const readme = await readFile(join(example.folder, 'README.md'), 'utf8')
    const command = /`(npx wrangler deploy [^`]+)`/.exec(readme)?.[1] ?? ''
    await example.run((example.blocks[0] ?? []).slice(0, -1).join('\n'))
    const { code, output } = await example.run(`${command} --dry-run`)
    assert.is(code, 0, output)
    for (const binding of ['env.STORE (SignalboxStore)', 'env.SIGNALBOX_SECRET ', 'env.SIGNALBOX_ENROLLMENT_TOKEN '])
      assert.match(output, binding)
  } finally {
    await example.remove()
  }
})

test('on Node, the example lists missing variables and exits with code 1', { timeoutMs: RUN_MS }, async () => {
  const example = await openExample('cloud')
  try {
    const { code, output } = await example.run('npm run start:node', {
      PORT: String(await findFreePort()),
      SIGNALBOX_SECRET: 'any',
    })
    assert.is(code, 1, output)
    assert.match(output, 'Set SIGNALBOX_SECRET, SIGNALBOX_ENROLLMENT_TOKEN: see README.md.')
  } finally {
    await example.remove()
  }
})
