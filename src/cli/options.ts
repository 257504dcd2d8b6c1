import { domainToASCII } from 'node:url'
import { isOrigin } from '../lib/urls.ts'
import { type OptionShape, readArguments, usage } from './arguments.ts'
import { problem } from './problem.ts'

/** The parsed options of the command line. */
export interface CliOptions {
  /** The port; 0 takes a free one. */
  port: number
  host: string
  /** Host names that are accepted besides IP addresses and localhost; empty: as `host` demands. */
  allowedHosts: string[]
  /** The origins of pages that may use the gateway. */
  allowedOrigins: string[]
  data: string
  demo: boolean
  newToken: boolean
  /** The form of the line for each model request. */
  log: false | 'text' | 'json'
  /** Is the dashboard served to other machines too? */
  dashboard: boolean
  /** Are metrics served for Prometheus? */
  metrics: boolean
  /** The file whose records are written at each start. */
  config: string | undefined
  /** May a gateway that demands no client key be reached from other machines? */
  open: boolean
  /** Are connections made from the variables that usually hold keys? */
  env: boolean
  help: boolean
  version: boolean
}

/** Where the gateway listens and keeps its data by default. */
export const defaults = { port: 4000, host: '127.0.0.1', data: './data' }

const known = {
  port: { type: 'string', example: String(defaults.port) },
  host: { type: 'string', example: defaults.host },
  'allowed-host': { type: 'string', example: 'gateway.example' },
  'allowed-origin': { type: 'string', example: 'https://app.example' },
  data: { type: 'string', example: defaults.data },
  demo: { type: 'boolean' },
  'new-token': { type: 'boolean' },
  log: { type: 'boolean', words: ['json'] },
  dashboard: { type: 'boolean' },
  metrics: { type: 'boolean' },
  config: { type: 'string', example: 'signalbox.yaml' },
  open: { type: 'boolean' },
  'no-env': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const satisfies Record<string, OptionShape>

/** Parses the command line. Throws a problem with exit code 2 on everything that is not a known option with a valid value. */
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
    log: given.has('log') && (given.get('log')?.at(-1) === 'json' ? 'json' : 'text'),
    dashboard: given.has('dashboard'),
    metrics: given.has('metrics'),
    config: given.get('config')?.at(-1),
    open: given.has('open'),
    env: !given.has('no-env'),
    help: given.has('help'),
    version: given.has('version'),
  }
}

function read(args: readonly string[]): Map<string, string[]> {
  const { given, positionals } = readArguments(args, known)
  const [unexpected] = positionals
  if (unexpected !== undefined)
    throw usage(`Unexpected "${unexpected}". A command comes before all options. ${OPTIONS_BEGIN}`)
  return given
}

/** What may be wrong with a word that is no command. */
export const OPTIONS_BEGIN =
  'Options begin with "--"; under npm write them after another "--": npm start -- --port 4100.'

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
  const host = /^[^\s/:@*?#\\]+$/.test(name) ? domainToASCII(name) : '' // the name in the form that clients send
  if (host === '') {
    throw usage(
      `--allowed-host "${text}" is no host name: a name alone, without scheme and port, as in --allowed-host ${known['allowed-host'].example}.`,
    )
  }
  return host
}

function originOf(text: string): string {
  const origin = text.trim()
  if (isOrigin(origin)) return origin
  throw usage(
    `--allowed-origin "${text}" is not an origin of a page: scheme, host and port as its browser sends them, without a path, as in --allowed-origin ${known['allowed-origin'].example}.`,
  )
}

/** The checked variables of the environment. */
export interface Environment {
  adminToken: string | undefined
  secret: string | undefined
}

/** The beginning of the ids of connections that are made from variables. */
export const ENV_PREFIX = 'env-'

/** Variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>

const MIN_LENGTH = 32

/**
 * Reads the variables. Throws a problem on one that is set but cannot be used: an empty value is a mistake rather than a request for the
 * default.
 */
export function readEnvironment(env: Variables, { newToken }: { newToken: boolean }): Environment {
  const { SIGNALBOX_ADMIN_TOKEN: adminToken, SIGNALBOX_SECRET: secret } = env
  if (adminToken !== undefined && adminToken.length < MIN_LENGTH) {
    const what = adminToken === '' ? 'empty' : `too short (${adminToken.length} characters)`
    throw problem(
      `SIGNALBOX_ADMIN_TOKEN is ${what}: use ${MIN_LENGTH} characters or more, such as 32 random bytes in hex, or unset it.`,
    )
  }
  if (adminToken !== undefined && newToken) {
    throw problem(
      '--new-token has nothing to replace while SIGNALBOX_ADMIN_TOKEN is set: change it there, or unset it.',
    )
  }
  if (adminToken !== undefined && !/^[\x21-\x7e]+$/.test(adminToken)) {
    throw problem(
      'SIGNALBOX_ADMIN_TOKEN holds blanks or characters that no header can carry: use plain ASCII, such as 32 random bytes in hex.',
    )
  }
  if (secret !== undefined && secret.trim() === '') {
    throw problem(
      'SIGNALBOX_SECRET is empty: set it to 32 random characters or more, or unset it to use the secret kept in the data folder.',
    )
  }
  if (secret !== undefined && secret.length < MIN_LENGTH) {
    throw problem(
      `SIGNALBOX_SECRET is too short (${secret.length} characters): use ${MIN_LENGTH} characters or more, such as 32 random bytes in hex, or unset it to use the secret kept in the data folder.`,
    )
  }
  return { adminToken, secret }
}

/** The text of `--help`. */
export const help = `Signalbox: one gateway in front of your own model providers.

Usage: signalbox [options]                      starts a gateway
       signalbox <command> [action] [options]   manages one that runs
       npm start -- [options]                   in a clone of the repository

Commands: keys, groups, connections, combos, aliases, models, providers, usage, live, explain, info, health, settings,
cloud, import. Each has --help. "signalbox models" lists what clients can ask for, "signalbox explain <model>" says where it goes,
"signalbox usage" what each key has used.

  --port <number>    Port to listen on, 0 for any free one. Default: ${defaults.port}
  --host <address>   Address to listen on. Default: ${defaults.host}, reached from this machine only
  --allowed-host <name>
                     Name of this gateway that is answered beside localhost and IP addresses, several times or
                     with commas. A gateway on a loopback address answers no other name; on others, every name
                     is answered unless this is given.
  --allowed-origin <origin>
                     Origin of pages that may call /v1 from elsewhere, such as https://app.example; several times
                     or with commas. /api stays closed to them.
  --data <folder>    Where everything is kept; made when missing. Default: ${defaults.data}
  --demo             Adds a provider that runs inside the gateway and two combos, "demo" and "demo-messages",
                     whose first target always fails. They join what is in the data folder, leave nothing
                     in it, and are gone when the gateway stops.
  --config <file>    JSON or YAML with "settings", "connections", "combos", "aliases", "customModels", "groups" and "keys", which
                     are written at each start; \${NAME} in it stands for a variable of the environment
  --open             Serves other machines than this one although no key is required of clients
  --no-env           Makes no connections of OPENAI_API_KEY and the like
  --new-token        Replaces the admin token; the old one no longer opens anything
  --log              Prints one line for each model request; never a key, a header or a body. "--log json" prints
                     it as JSON, and everything else on standard error
  --dashboard        Serves the dashboard, at /admin/, to other machines too. It is served on a loopback address
                     without this; who looks needs the admin token.
  --metrics          Serves metrics for Prometheus at /metrics, to who sends SIGNALBOX_METRICS_TOKEN or, where
                     that is not set, the admin token
  -h, --help         Prints this
  -v, --version      Prints the version

Environment:
  SIGNALBOX_ADMIN_TOKEN   The admin token, 32 characters or more, in place of the one made on the first start
  SIGNALBOX_SECRET        Seals the credentials in the data folder, in place of the secret kept beside them;
                          32 characters or more
  NODE_USE_ENV_PROXY=1    Calls providers by the proxies in HTTPS_PROXY, HTTP_PROXY and NO_PROXY
  SIGNALBOX_METRICS_TOKEN What a scrape of --metrics sends as its bearer token, 32 characters or more
  OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY and others
                          Connect these providers for as long as they are set, unless --demo or --no-env is given

SIGTERM or Ctrl-C stops it: nothing new is accepted, and answers under way have 10 s to finish. Another one, a
second later or more, ends it at once.
Exit codes: 0 stopped when told to, 1 could not start or go on, 2 wrong option or unknown command. A command ends
with 0 when it is done, otherwise with 1.
`

/** The oldest supported Node, as in `engines` of package.json. */
const OLDEST = '20.18.1'

/** Throws a problem when this version of Node is too old for the program. */
export function requireNode(version: string): void {
  if (rank(version) >= rank(OLDEST)) return
  throw problem(`Node ${version} is too old: install ${OLDEST} or later, see https://nodejs.org`)
}

function rank(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return (major * 1_000 + minor) * 1_000 + patch
}
