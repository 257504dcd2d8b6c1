import { domainToASCII } from 'node:url'
import { parseArgs } from 'node:util'
import { nearest } from '../lib/nearest.ts'
import { isOrigin } from '../lib/origin.ts'
import { type Problem, problem } from './problem.ts'

/** The command line, read. */
export interface CliOptions {
  /** 0 takes a free one. */
  port: number
  host: string
  /** Names that are answered beside IP addresses and localhost; empty: what `host` makes of it. */
  allowedHosts: string[]
  /** The origins of pages that may use the gateway. */
  allowedOrigins: string[]
  data: string
  demo: boolean
  newToken: boolean
  log: boolean
  /** The file whose records are written at each start. */
  config: string | undefined
  /** Is a gateway that asks for no key meant to be reached from other machines? */
  open: boolean
  /** Make connections of the usual variables? */
  env: boolean
  help: boolean
  version: boolean
}

export const defaults = { port: 4000, host: '127.0.0.1', data: './data' }

const examples = {
  ...defaults,
  'allowed-host': 'gateway.example',
  'allowed-origin': 'https://app.example',
  config: 'signalbox.yaml',
}

const known = {
  port: { type: 'string' },
  host: { type: 'string' },
  'allowed-host': { type: 'string' },
  'allowed-origin': { type: 'string' },
  data: { type: 'string' },
  demo: { type: 'boolean' },
  'new-token': { type: 'boolean' },
  log: { type: 'boolean' },
  config: { type: 'string' },
  open: { type: 'boolean' },
  'no-env': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const

/** Throws a problem with exit code 2 on anything that is not exactly an option with the value that it takes. */
export function parseOptions(args: readonly string[]): CliOptions {
  const given = read(args)
  return {
    port: portOf(given.get('port')?.at(-1) ?? String(defaults.port)),
    host: hostOf(given.get('host')?.at(-1) ?? defaults.host),
    allowedHosts: (given.get('allowed-host') ?? []).flatMap((names) => names.split(',')).map(hostNameOf),
    allowedOrigins: (given.get('allowed-origin') ?? []).flatMap((origins) => origins.split(',')).map(originOf),
    data: given.get('data')?.at(-1) ?? defaults.data,
    demo: given.has('demo'),
    newToken: given.has('new-token'),
    log: given.has('log'),
    config: given.get('config')?.at(-1),
    open: given.has('open'),
    env: !given.has('no-env'),
    help: given.has('help'),
    version: given.has('version'),
  }
}

/** Node's own messages in strict mode speak of positionals and escape rules; these say what to write instead. */
function read(args: readonly string[]): Map<string, string[]> {
  const { tokens } = parseArgs({ args: [...args], options: known, strict: false, allowPositionals: true, tokens: true })
  const given = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') {
      throw usage(
        `Unexpected "${token.value}". Options begin with "--"; under npm write them after another "--": npm start -- --port 4100.`,
      )
    }
    const { name, rawName, value, inlineValue } = token
    const type = Object.hasOwn(known, name) ? known[name as keyof typeof known].type : undefined // checked by hasOwn
    if (!type) throw usage(`Unknown option "${rawName}".${suggestion(name)}`)
    if (type === 'boolean' && value !== undefined) throw usage(`${rawName} takes no value.`)
    if (type === 'string' && (!value?.trim() || (!inlineValue && value.startsWith('-')))) {
      throw usage(`${rawName} needs a value, as in ${rawName} ${examples[name as keyof typeof examples]}.`) // those with values have one
    }
    given.set(name, [...(given.get(name) ?? []), value ?? ''])
  }
  return given
}

function suggestion(name: string): string {
  const [meant] = nearest(name, Object.keys(known), 1)
  return meant === undefined ? ' --help lists all.' : ` Did you mean "--${meant}"?`
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) throw usage(`--port "${text}" is no port: a whole number from 0 to 65535, 0 for any free one.`)
  return port
}

function hostOf(text: string): string {
  const host = text.replace(/^\[(.*)\]$/, '$1')
  if (!/^[\w.:%-]+$/.test(host) || /^[^:]+:\d*$/.test(host)) {
    throw usage(
      `--host "${text}" is no host: an address or a name alone, as in --host 0.0.0.0; the port goes to --port.`,
    )
  }
  return host
}

function hostNameOf(text: string): string {
  const name = text.trim().replace(/\.$/, '')
  const host = /^[^\s/:@*?#\\]+$/.test(name) ? domainToASCII(name) : '' // as a client sends it
  if (host === '') {
    throw usage(
      `--allowed-host "${text}" is no host name: a name alone, without scheme and port, as in --allowed-host ${examples['allowed-host']}.`,
    )
  }
  return host
}

function originOf(text: string): string {
  const origin = text.trim()
  if (isOrigin(origin)) return origin
  throw usage(
    `--allowed-origin "${text}" is not an origin of a page: scheme, host and port as its browser sends them, without a path, as in --allowed-origin ${examples['allowed-origin']}.`,
  )
}

const usage = (message: string): Problem => problem(message, { exitCode: 2 })
