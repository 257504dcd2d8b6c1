import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { assert } from '../support/suite.ts'
import { findFreePort, findPage, RUN_MS, until } from './example.ts'
import { testExample } from './scenario.ts'

const options = {
  address: '127.0.0.1:8787',
  portArguments: (port: number) => ` --port ${port} --ip 127.0.0.1 --inspector-port 0`,
}

const test = testExample('cloudflare', () => options, 'cloudflare (Durable Object)')
testExample(
  'cloudflare',
  () => ({ ...options, command: 'npx wrangler dev -c wrangler.kv.jsonc' }),
  'cloudflare (Workers KV)',
)

test('the deployment commands on the page include all bindings', { timeoutMs: RUN_MS }, async ({
  server: { example },
}) => {
  const page = await readFile(findPage('cloudflare'), 'utf8')
  const commands = [...page.matchAll(/(?:^|`)(npx wrangler deploy [^`\n]+)/gm)].map(([, command]) => command ?? '')
  const bindings = ['env.STORE (SignalboxStore)', 'env.KV ']
  assert.is(commands.length, bindings.length)
  for (const [index, command] of commands.entries()) {
    const { code, output } = await example.run(`${command} --dry-run`)
    assert.is(code, 0, output)
    for (const binding of [bindings[index] ?? '', 'env.SIGNALBOX_SECRET ', 'env.OPENAI_API_KEY '])
      assert.match(output, binding)
  }
})

test('the Worker logs which variables are missing, and returns a 500', { timeoutMs: RUN_MS }, async (context) => {
  const { example, started } = context.server
  await started.stop()
  const file = join(example.folder, '.env')
  await rename(file, `${file}.aside`)
  const port = await findFreePort()
  const own = example.start(`npx wrangler dev${options.portArguments(port)}`)
  try {
    const status = await until(
      own,
      async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))?.status,
    )
    assert.is(status, 500)
    await until(own, () =>
      /Set SIGNALBOX_SECRET, SIGNALBOX_ADMIN_TOKEN, APP_KEY, OPENAI_API_KEY: see README\.md/.test(own.output),
    )
  } finally {
    await own.kill()
    await rename(`${file}.aside`, file)
  }
})
