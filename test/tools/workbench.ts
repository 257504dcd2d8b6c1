import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { serveNode } from '../../adapters/mount/node.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import type { RequestRecord } from '../../src/request/hook-records.ts'
import { type MockedCall, startProvider } from './provider.ts'
import type { Recipe } from './recipes.ts'

/** The time limit for a tool in ms. The largest programs are 200 MB, and the machine may be busy. */
export const RUN_MS = 120_000

/** The word in the file `note.txt` in the working folder. */
const WORD = 'zanzibar-4711'
/** The prompt that makes the mocked model read that file. */
const ASK = 'Which word is in note.txt?'
/** A tool's final output after it has run its own tool and the model has received the result. */
export const READ = `I have read ${WORD}.`

const TOKEN = 'test-token-of-thirty-two-characters'

export interface ToolRun {
  code: number | null
  /** The output on stdout and stderr. */
  output: string
}

/** Additions to a recipe. */
interface Additions {
  /** The command's program and its first arguments. */
  program: string[]
  command: string
  /** Additional arguments for the command. */
  more?: string[]
  /** `~` is the tool's home folder. */
  env?: Record<string, string>
}

export type Workbench = Awaited<ReturnType<typeof openWorkbench>>

/**
 * Opens a gateway on loopback, set up as in the README but with a mocked provider, and separate home and working folders for the tool that uses the
 * gateway. `call` is the tool call with which the mocked model reads a file in the working folder.
 */
export async function openWorkbench(call: (path: string) => MockedCall) {
  const root = await mkdtemp(join(tmpdir(), 'signalbox-tool-'))
  const home = await makeFolder(join(root, 'home'))
  const folder = await makeFolder(join(root, 'work'))
  const bin = await makeFolder(join(root, 'bin'))
  const note = join(folder, 'note.txt')
  await writeFile(note, `The word is ${WORD}.\n`)
  const provider = await startProvider({ request: ASK, call: call(note), word: WORD })
  const requests: RequestRecord[] = []
  const gateway = createGateway({
    storage: memoryStorage(),
    logger: false,
    management: { token: TOKEN },
    hooks: { onRequest: (record) => void requests.push(record) },
  })
  const rejected: string[] = []
  const server = await serveNode({
    ...gateway,
    async exchange(exchange) {
      const reply = await gateway.exchange(exchange)
      if (reply && reply.status >= 400) rejected.push(`${exchange.method} ${exchange.path}: ${reply.status}`)
      return reply
    },
  })
  const { key } = await gateway.api.keys.create({ name: 'tool' })
  await gateway.api.settings.update({ requireApiKey: true })
  const providerSpecificData = { baseUrl: provider.url }
  await gateway.api.connections.create({ provider: 'openai', apiKey: 'sk-up', providerSpecificData })

  /** Adapts a recipe to this gateway and prompt. */
  const fitted = (text: string) =>
    text
      .replaceAll('http://127.0.0.1:4000', server.url)
      .replaceAll('sbx_…', key)
      .replaceAll("'What does this project do?'", `'${ASK}' $MORE`)

  return {
    requests,
    /** The requests that the gateway rejected. */
    refused: rejected,
    /** Runs a recipe to completion, with only `PATH` from this machine's environment. */
    async follow({ files, script }: Recipe, { program, command, more = [], env = {} }: Additions): Promise<ToolRun> {
      for (const [path, content] of files) {
        await makeFolder(dirname(join(home, path)))
        await writeFile(join(home, path), fitted(content))
      }
      const line = program.map((part) => `'${part}'`).join(' ')
      await writeFile(join(bin, command), `#!/bin/sh\nexec ${line} "$@"\n`, { mode: 0o755 })
      const path = [bin, process.env.PATH].join(delimiter)
      const own = { SIGNALBOX_KEY: key, SIGNALBOX_ADMIN_TOKEN: TOKEN, MORE: more.join(' ') }
      const added = Object.entries(env).map(([name, value]) => [name, value.replace('~', home)])
      const all = { ...isolated(home), PATH: path, ...own, ...Object.fromEntries(added) }
      return runScript(fitted(script), { cwd: folder, env: all })
    },
    async close(): Promise<void> {
      await server.close({ graceMs: 0 })
      await gateway.close()
      provider.close()
      await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
}

async function makeFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true })
  return path
}

const isolated = (home: string) => ({
  HOME: home,
  XDG_CONFIG_HOME: join(home, '.config'),
  XDG_DATA_HOME: join(home, '.local/share'),
  XDG_STATE_HOME: join(home, '.local/state'),
  XDG_CACHE_HOME: join(home, '.cache'),
  NO_COLOR: '1',
  DO_NOT_TRACK: '1',
})

/** Runs a script in its own process group, and ends the whole group afterward. */
function runScript(script: string, options: { cwd: string; env: Record<string, string> }): Promise<ToolRun> {
  return new Promise((resolve, reject) => {
    let output = ''
    const child = spawn('/bin/sh', ['-e', '-c', script], {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const kill = () => {
      try {
        if (child.pid) process.kill(-child.pid, 'SIGKILL')
      } catch {} // all processes had ended
    }
    process.once('exit', kill)
    const timer = setTimeout(() => {
      kill()
      reject(new Error(`took longer than ${RUN_MS} ms:\n${output}`))
    }, RUN_MS)
    const read = (part: Buffer) => {
      output += part
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('error', reject)
    child.on('exit', kill) // also ends processes that it left running
    child.on('close', (code) => {
      clearTimeout(timer)
      process.off('exit', kill)
      resolve({ code, output })
    })
  })
}
