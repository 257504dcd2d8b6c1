import { domainToASCII } from 'node:url'
import { isOrigin } from '../lib/urls.ts'
import { createUsageProblem, type OptionShape, readArguments } from './command-line.ts'
import { createProblem } from './problem.ts'

/** The parsed command-line options. */
export interface CliOptions {
  /** The port; 0 picks a free port. */
  port: number
  host: string
  /** Hostnames to accept in addition to IP addresses and localhost. If empty, the default depends on `host`. */
  allowedHosts: string[]
  /** The origins of web pages that may call the gateway. */
  allowedOrigins: string[]
  data: string
  demo: boolean
  newToken: boolean
  /** The format in which model requests are logged, one line each. */
  log: false | 'text' | 'json'
  /** Whether to serve the dashboard to other machines. */
  dashboard: boolean
  /** Whether to serve metrics for Prometheus. */
  metrics: boolean
  /** The config file to apply on every start. */
  config: string | undefined
  /** Whether other machines may connect even though the gateway doesn't require API keys. */
  open: boolean
  /** Whether to connect providers whose API keys are in environment variables. */
  env: boolean
  help: boolean
  version: boolean
}

/** The gateway's default address and data directory. */
export const defaults = { port: 4000, host: '127.0.0.1', data: './data' }

const optionShapes = {
  port: { type: 'string', example: String(defaults.port) },
  host: { type: 'string', example: defaults.host },
  'allowed-host': { type: 'string', example: 'gateway.example', isList: true },
  'allowed-origin': { type: 'string', example: 'https://app.example', isList: true },
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

/** Parses the command line. Throws a problem with exit code 2 for anything except known options with valid values. */
export function parseOptions(args: readonly string[]): CliOptions {
  const parsedArgs = read(args)
  return {
    port: parsePort(parsedArgs.get('port')?.at(-1) ?? String(defaults.port)),
    host: parseHost(parsedArgs.get('host')?.at(-1) ?? defaults.host),
    allowedHosts: (parsedArgs.get('allowed-host') ?? []).flatMap((names) => names.split(',')).map(parseHostname),
    allowedOrigins: (parsedArgs.get('allowed-origin') ?? []).flatMap((origins) => origins.split(',')).map(parseOrigin),
    data: parsedArgs.get('data')?.at(-1) ?? defaults.data,
    demo: parsedArgs.has('demo'),
    newToken: parsedArgs.has('new-token'),
    log: parsedArgs.has('log') && (parsedArgs.get('log')?.at(-1) === 'json' ? 'json' : 'text'),
    dashboard: parsedArgs.has('dashboard'),
    metrics: parsedArgs.has('metrics'),
    config: parsedArgs.get('config')?.at(-1),
    open: parsedArgs.has('open'),
    env: !parsedArgs.has('no-env'),
    help: parsedArgs.has('help'),
    version: parsedArgs.has('version'),
  }
}

function read(args: readonly string[]): Map<string, string[]> {
  const { values, positionals } = readArguments(args, optionShapes)
  const [unexpected] = positionals
  if (unexpected !== undefined)
    throw createUsageProblem(`Unexpected argument "${unexpected}". Commands go before options. ${OPTIONS_ADVICE}`)
  return values
}

/** Advice for a command line with an unexpected word. */
export const OPTIONS_ADVICE = 'Options start with "--"; with npm, put another "--" first: npm start -- --port 4100'

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535))
    throw createUsageProblem(`--port "${text}" is not a valid port. Use a number from 0 to 65535; 0 picks a free port.`)
  return port
}

function parseHost(text: string): string {
  const host = text.replace(/^\[(.*)\]$/, '$1')
  if (!/^[\w.:%-]+$/.test(host) || /^[^:]+:\d*$/.test(host)) {
    throw createUsageProblem(
      `--host "${text}" is not a valid host. Use an IP address or hostname, such as 0.0.0.0, and set the port with --port.`,
    )
  }
  return host
}

function parseHostname(text: string): string {
  const name = text.trim().replace(/\.$/, '')
  const host = /^[^\s/:@*?#\\]+$/.test(name) ? domainToASCII(name) : '' // punycode, the form that clients send
  if (host === '') {
    throw createUsageProblem(
      `--allowed-host "${text}" is not a valid hostname. Leave out the scheme and port, for example: --allowed-host ${optionShapes['allowed-host'].example}`,
    )
  }
  return host
}

function parseOrigin(text: string): string {
  const origin = text.trim()
  if (isOrigin(origin)) return origin
  throw createUsageProblem(
    `--allowed-origin "${text}" is not a valid origin. Use scheme, host, and port without a path, for example: --allowed-origin ${optionShapes['allowed-origin'].example}`,
  )
}

/** The validated environment variables. */
export interface Environment {
  adminToken: string | undefined
  secret: string | undefined
}

/** The ID prefix for connections from environment variables. */
export const ENV_PREFIX = 'env-'

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>

/** Removes quotes around a secret. `docker run --env-file` and other tools keep the quotes, and no secret contains any. */
export const stripQuotes = (secret: string): string => secret.replace(/^\s*(["'])(.*)\1\s*$/s, '$2')

const MIN_LENGTH = 32

/**
 * Reads the environment variables. Throws a problem if a variable is set but unusable. An empty value is treated as a mistake rather than a request
 * for the default.
 */
export function readEnvironment(env: Variables, { newToken }: { newToken: boolean }): Environment {
  const { SIGNALBOX_ADMIN_TOKEN: adminToken, SIGNALBOX_SECRET: secret } = env
  if (adminToken !== undefined && adminToken.length < MIN_LENGTH) {
    const flaw = adminToken === '' ? 'empty' : `too short (${adminToken.length} characters)`
    throw createProblem(
      `SIGNALBOX_ADMIN_TOKEN is ${flaw}. Use at least ${MIN_LENGTH} characters, such as 32 random bytes in hex, or unset it.`,
    )
  }
  if (adminToken !== undefined && newToken) {
    throw createProblem(
      '--new-token has no effect while SIGNALBOX_ADMIN_TOKEN is set. Change or unset the variable instead.',
    )
  }
  if (adminToken !== undefined && !/^[\x21-\x7e]+$/.test(adminToken)) {
    throw createProblem(
      "SIGNALBOX_ADMIN_TOKEN contains spaces or characters that HTTP headers don't allow. Use printable ASCII, such as 32 random bytes in hex.",
    )
  }
  if (secret !== undefined && secret.trim() === '') {
    throw createProblem(
      'SIGNALBOX_SECRET is empty. Set it to at least 32 random characters, or unset it to use the secret stored in the data directory.',
    )
  }
  if (secret !== undefined && secret.length < MIN_LENGTH) {
    throw createProblem(
      `SIGNALBOX_SECRET is too short (${secret.length} characters). Use at least ${MIN_LENGTH} characters, such as 32 random bytes in hex, or unset it to use the secret stored in the data directory.`,
    )
  }
  return { adminToken, secret }
}

/** Formats the text of `--help`. `commandLines` contains one line per command. */
export const formatMainHelp = (
  commandLines: string,
): string => `Signalbox: a self-hosted LLM gateway. One URL and one API key for all your providers.

Usage:
  signalbox [start] [options]              Start a gateway
  signalbox <command> [action] [options]   Manage a running gateway
  npm start -- [options]                   Do the same in a clone of the repository

Commands:
${commandLines}

Run "signalbox <command> --help" for the actions of a command, and "signalbox <command> <action> --help"
for its options.

Options for start:
  --port <number>           Port to listen on; 0 picks a free port (default: ${defaults.port})
  --host <address>          Address to listen on (default: ${defaults.host}, only this machine)
  --allowed-host <name>     Hostname to accept in addition to localhost and IP addresses. Repeatable or
                            comma-separated. On a loopback address, other hostnames are rejected;
                            on any other address, they are accepted unless you set this option.
  --allowed-origin <origin> Origin of web pages that may call /v1, such as https://app.example.
                            Repeatable or comma-separated. They can't call /api.
  --data <dir>              Data directory, created if missing (default: ${defaults.data})
  --config <file>           YAML or JSON file to apply on every start, with "settings", "connections",
                            "combos", "aliases", "models", "groups", and "keys". \${NAME} in it
                            reads an environment variable. Or a module, such as signalbox.config.ts,
                            which is found in the working folder; "none" ignores it.
  --open                    Let other machines connect even though clients need no API key
  --no-env                  Don't connect providers from OPENAI_API_KEY and similar variables
  --new-token               Replace the admin token; the old one stops working
  --log [json]              Print one line per model request, without keys, headers, or bodies.
                            With "json", print JSON lines to stdout and the rest to stderr.
  --dashboard               Also serve the dashboard at /admin/ to other machines. On a loopback
                            address, it's always served. Sign in with the admin token.
  --metrics                 Serve Prometheus metrics at /metrics. Scrapers need the token in
                            SIGNALBOX_METRICS_TOKEN or, if it isn't set, the admin token.
  --demo                    Add a simulated provider, keys, usage, and combos such as "demo", whose
                            first target always fails. None of it is saved to the data directory.
  -h, --help                Print this help
  -v, --version             Print the version

Environment variables:
  SIGNALBOX_ADMIN_TOKEN     Admin token, at least 32 characters
                            (default: generated and printed on the first start)
  SIGNALBOX_SECRET          Encrypts the credentials in the data directory, at least 32 characters
                            (default: generated and stored in the data directory)
  SIGNALBOX_METRICS_TOKEN   Bearer token for /metrics, at least 32 characters
  NODE_USE_ENV_PROXY=1      Call providers through HTTPS_PROXY and HTTP_PROXY, except for hosts
                            in NO_PROXY
  OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, and others
                            Connect these providers while the variables are set, unless you use
                            --demo or --no-env

Press Ctrl-C or send SIGTERM to stop. In-flight requests have 10 seconds to finish. To quit
immediately, repeat the signal after a second.

Exit codes: 0 stopped normally, 1 failed to start or crashed, 2 invalid option or unknown command.
Commands that manage a gateway exit with 0 on success and 1 on error.
`

/** The oldest supported version of Node, as in `engines` of package.json. */
const MIN_VERSION = '22.13.0'

/** Throws a problem if this version of Node is too old. */
export function requireNode(version: string): void {
  if (getVersionNumber(version) >= getVersionNumber(MIN_VERSION)) return
  throw createProblem(`Node.js ${version} is too old. Install ${MIN_VERSION} or later: https://nodejs.org`)
}

function getVersionNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return (major * 1_000 + minor) * 1_000 + patch
}
