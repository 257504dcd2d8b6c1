import { execFile } from 'node:child_process'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { assert, skip, suite } from '../support/suite.ts'
import { cleanUp, signalbox, temporaryFolder } from './command.ts'
import { type LocalServers, startLocalServers, VLLM_KEY } from './local-servers.ts'

const TOKEN = 'an admin token of forty characters or so'.replaceAll(' ', '-')

const page = await readFile(new URL('../../docs/src/content/docs/start/local-models.md', import.meta.url), 'utf8')
const sections = new Map(
  page.split(/^## /m).map((section): [string, string] => [section.slice(0, section.indexOf('\n')), section]),
)
const listBlocks = (title: string, language: string) =>
  Array.from(
    sections.get(title)?.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm')) ?? [],
    ([, code = '']) => code,
  )

const run = promisify(execFile)

interface Context {
  servers: LocalServers
  /** A folder with an `npx` program that runs the built command, and a module that redirects the servers' ports. */
  folder: string
  ports: string
}

const test = suite<Context>('the recipes for self-hosted servers', {
  servers: Object(undefined),
  folder: '',
  ports: '',
})

test.before(async (context) => {
  if (process.platform === 'win32') skip('the recipes are for a POSIX shell')
  await run('sh', ['-c', 'curl --version']).catch(() => skip('there is no curl'))
  context.servers = await startLocalServers()
  context.folder = await temporaryFolder()
  const main = new URL('../../dist/cli.js', import.meta.url).pathname
  await writeFile(join(context.folder, 'npx'), `#!/bin/sh\nshift\nexec '${process.execPath}' '${main}' "$@"\n`)
  await chmod(join(context.folder, 'npx'), 0o755)
  context.ports = join(context.folder, 'ports.mjs')
  await writeFile(
    context.ports,
    `import { Socket } from 'node:net'
const ports = ${JSON.stringify(context.servers.ports)}
const { connect } = Socket.prototype
Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args
  if (options?.port in ports) options.port = ports[options.port]
  return connect.apply(this, args)
}
`,
  )
})

test.after(async ({ servers }) => {
  servers.close()
  await cleanUp()
})

/** Starts a gateway that reaches the servers at the recipes' ports. */
const start = async ({ ports }: Context, args: string[] = []) =>
  signalbox(['--data', await temporaryFolder(), '--no-env', ...args], {
    env: { SIGNALBOX_ADMIN_TOKEN: TOKEN, VLLM_API_KEY: VLLM_KEY },
    node: ['--import', ports],
  })

/** Runs a code block in a shell, against the test's gateway instead of port 4000. */
function runBlock({ folder }: Context, script: string, url: string): Promise<{ stdout: string; stderr: string }> {
  const env = {
    PATH: `${folder}:${process.env.PATH}`,
    SIGNALBOX_URL: url,
    SIGNALBOX_ADMIN_TOKEN: TOKEN,
    VLLM_API_KEY: VLLM_KEY,
  }
  return run('sh', ['-ec', script.replaceAll('http://127.0.0.1:4000', url)], { env })
}

/** Runs a code block that must cause no error or warning. Resolves to its output. */
async function sh(context: Context, script: string, url: string): Promise<string> {
  const { stdout, stderr } = await runBlock(context, script, url)
  assert.not.match(stderr, 'signalbox:')
  return stdout
}

const getIds = async (url: string, path = '/v1/models') => {
  const listed: { data: { id: string }[] } = await (await fetch(url + path)).json()
  return listed.data.map(({ id }) => id)
}

for (const [title, hello, listed, embeddings] of [
  ['Ollama', 'Hello from ollama', ['ollama/llama3.2:latest'], ['ollama/nomic-embed-text:latest']],
  ['LM Studio', 'Hello from lmstudio', ['lms/qwen/qwen3-4b-2507'], ['lms/text-embedding-nomic-embed-text-v1.5']],
  ['llama.cpp', 'Hello from llama', ['llama/qwen3'], []],
  ['vLLM', 'Hello from vllm', ['vllm/Qwen/Qwen3-4B'], []],
] as const) {
  test(`the recipe for ${title} lists the server's models and calls one`, async (context) => {
    const gateway = await start(context)
    const url = await gateway.baseUrl()
    const [first = '', ...others] = listBlocks(title, 'sh')
    assert.match(await sh(context, first, url), hello)
    assert.equal(await getIds(url), [...listed])
    assert.equal(await getIds(url, '/v1/models/embedding'), [...embeddings])
    if (title === 'Ollama') {
      context.servers.models.ollama.push('qwen3:8b')
      for (const block of others) assert.match(await sh(context, block, url), /llama3\.2:latest.*qwen3:8b/)
      assert.equal(await getIds(url), [...listed, 'ollama/qwen3:8b'])
      context.servers.models.ollama.pop()
    }
    await gateway.stop()
  })
}

test('the llama.cpp recipe connects while the model is loading, and its retry command works later', async (context) => {
  const gateway = await start(context)
  const url = await gateway.baseUrl()
  const [create = ''] = listBlocks('llama.cpp', 'sh').join('').split('\n')
  const again = /`(npx signalbox connections discover [^`]+)`/.exec(sections.get('llama.cpp') ?? '')?.[1] ?? ''
  context.servers.isLoading = true
  const { stderr } = await runBlock(context, create, url)
  assert.match(
    stderr,
    'signalbox: warning: The server at http://localhost:8080/v1/models returned status 503: wait until',
  )
  context.servers.isLoading = false
  assert.match(await sh(context, again, url), /enabledModels +qwen3$/m)
  await gateway.stop()
})

test('the config file with all servers connects them, and its combo responds', async (context) => {
  const config = join(context.folder, 'signalbox.yaml')
  await writeFile(config, listBlocks('Use a config file', 'yaml').join(''))
  const gateway = await start(context, ['--config', config])
  const url = await gateway.baseUrl()
  assert.is(gateway.stderr, '')
  assert.equal(await getIds(url), [
    'local',
    'ollama/llama3.2:latest',
    'lms/qwen/qwen3-4b-2507',
    'llama/qwen3',
    'vllm/Qwen/Qwen3-4B',
  ])
  const body = JSON.stringify({ model: 'local', messages: [{ role: 'user', content: 'Hello' }] })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  assert.match(await response.text(), 'Hello from ollama')
  await gateway.stop()
})

test('the example that connects a server in code prints the models', async ({ servers }) => {
  const fetchLocal = (url: string | URL | Request, init?: RequestInit) =>
    fetch(
      String(url).replace(/localhost:(\d+)/, (_, port) => `127.0.0.1:${servers.ports[port]}`),
      init,
    )
  const gateway = createGateway({ storage: memoryStorage(), logger: false, fetch: fetchLocal })
  const printed: unknown[] = []
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
    ...args: string[]
  ) => (gateway: Gateway, console: { log(...values: unknown[]): void }) => Promise<void>
  const program = new AsyncFunction('gateway', 'console', listBlocks('Connect a server in code', 'js').join(''))
  await program(gateway, { log: (...values) => printed.push(...values) })
  assert.equal(printed, [['llama3.2:latest', 'nomic-embed-text:latest'], undefined])
  await gateway.close()
})
