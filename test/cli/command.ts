import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const main = new URL('../../dist/cli.js', import.meta.url).pathname

export interface Result {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A CLI command that runs in its own process. */
export interface Command {
  readonly stdout: string
  readonly stderr: string
  readonly ended: Promise<Result>
  /** Resolves to the printed base URL once the gateway is up. */
  baseUrl(): Promise<string>
  /** Resolves once stdout or stderr matches. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** Sends a signal (default: SIGTERM) and waits for the process to exit. */
  stop(signal?: NodeJS.Signals): Promise<Result>
  kill(signal: NodeJS.Signals): void
}

export interface CommandOptions {
  env?: Record<string, string>
  /** Node options, passed before the script. */
  node?: string[]
  /** The contents of stdin. Default: empty. */
  input?: string
}

/** The environment variables that each process inherits. Node's compile cache makes a start a quarter faster. */
const { PATH, NODE_COMPILE_CACHE } = process.env
const shared = { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) }

const alive = new Set<ChildProcess>()
const folders: string[] = []

/** Runs the built `signalbox`: the gateway, or a command such as `keys`. */
export function signalbox(args: string[], { env = {}, node = [], input = '' }: CommandOptions = {}): Command {
  const isGateway = args[0] === undefined || args[0].startsWith('-')
  const port = !isGateway || args.some((arg) => arg.startsWith('--port')) ? [] : ['--port', '0']
  const child = spawn(process.execPath, [...node, main, ...port, ...args], {
    env: { ...shared, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {}) // the process may exit before it has read its input
  child.stdin.end(input)
  alive.add(child)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<Result>((resolve) => {
    child.on('close', (code, signal) => {
      alive.delete(child)
      resolve({ code, signal })
    })
  })

  const waitForOutput = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(stdout) ?? pattern.exec(stderr)
        if (match) resolve(match)
      }
      look()
      child.stdout.on('data', look)
      child.stderr.on('data', look)
      void ended.then(() => reject(new Error(`the command ended before it printed ${pattern}:\n${stdout}${stderr}`)))
    })

  return {
    get stdout() {
      return stdout
    },
    get stderr() {
      return stderr
    },
    ended,
    printed: waitForOutput,
    // The message ends with the URL and a blank line, so the match means that it's complete.
    baseUrl: async () => (await waitForOutput(/Anthropic clients +(http:\S+)\n[\s\S]*\n\n$/))[1] ?? '',
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
    kill: (signal) => void child.kill(signal),
  }
}

/** Creates a folder for a test. `cleanUp` removes it. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-cli-'))
  folders.push(folder)
  return folder
}

/** Stops all running commands and removes all folders. */
export async function cleanUp(): Promise<void> {
  const running = [...alive].map((child) => new Promise((resolve) => child.once('close', resolve)))
  for (const child of alive) child.kill('SIGKILL')
  await Promise.all(running)
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })))
}

/** Returns the admin token that the first start printed. */
export const findToken = ({ stdout }: Command): string =>
  /SIGNALBOX_ADMIN_TOKEN=(sbx_admin_\S{43})\n/.exec(stdout)?.[1] ?? ''

/** Calls the management API. */
export async function manage(url: string, token: string, init: { method?: string; body?: object } = {}) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const method = init.method ?? (init.body ? 'POST' : 'GET')
  const response = await fetch(url, { method, headers, ...(init.body && { body: JSON.stringify(init.body) }) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** Requests a streamed chat completion. */
export function chat(baseUrl: string, model: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'A private question' }] }),
  })
}
