import type { Exchange, Reply } from '../lib/exchange.ts'
import { VERSION } from '../lib/version.ts'
import { UNCACHED } from '../request/door/reply.ts'
import { ENV_PREFIX } from './cli-options.ts'
import { DEMO, DEMO_MESSAGES } from './demo/demo-providers.ts'
import type { EnvConnection } from './env-connections.ts'

/** The facts that the start-up text depends on. */
export interface Welcome {
  /** Without `/v1`. */
  baseUrl: string
  data: string
  /** The admin token, if this start has made it: it is shown only now. */
  token: string | undefined
  isTokenGiven: boolean
  demo: boolean
  requireApiKey: boolean
  /** Are there connections already? */
  isInUse: boolean
  /** The variables of the environment that hold keys of providers. */
  envConnections: readonly EnvConnection[]
  /** The address, when it can be reached from other machines. */
  openTo: string | undefined
  hasDashboard: boolean
  /** Is this Windows, whose shells cannot run the commands? */
  isWindows: boolean
}

/**
 * The text that is printed once the gateway listens. Each command can be pasted into a shell unchanged, also into zsh, which accepts no
 * comments.
 */
export function welcomeText(facts: Welcome): string {
  const { baseUrl, data, demo } = facts
  return blocks([
    `Signalbox is running${demo ? ' with demo data' : ''}. Data directory: ${data}`,
    addresses(baseUrl),
    ...(facts.isWindows ? ['Run the commands below in a POSIX shell, such as Git Bash or WSL.'] : []),
    tokenText(facts),
    ...dashboardText(facts),
    ...environmentText(facts),
    ...(demo ? demoText(facts) : facts.isInUse ? modelsText(facts) : [NOT_CONNECTED, ...firstSteps(facts)]),
    ...openText(facts),
  ])
}

/** The base URLs for clients. */
const addresses = (baseUrl: string): string =>
  `  OpenAI clients     ${baseUrl}/v1\n  Google clients     ${baseUrl}\n  Anthropic clients  ${baseUrl}`

/** A small model of the built-in catalog. */
export const FIRST_MODEL = 'openai/gpt-5-mini'

function tokenText({ token, isTokenGiven }: Welcome): string {
  if (token !== undefined)
    return `Your admin token, shown only once. Save it now; if you lose it, restart with --new-token:\n\n  export SIGNALBOX_ADMIN_TOKEN=${token}`
  if (isTokenGiven) return 'Your admin token is the value of SIGNALBOX_ADMIN_TOKEN.'
  return 'Your admin token was printed on the first start with this data directory, with or without --demo. If you lost it, restart with --new-token.'
}

/** The address of the dashboard. With a token that is shown anyhow it opens without a further question; a fragment is sent to no server. */
function dashboardText({ hasDashboard, baseUrl, token }: Welcome): string[] {
  if (!hasDashboard) return []
  const fragment = token === undefined ? '' : `#token=${token}`
  return [`Open the dashboard in your browser:\n\n  ${baseUrl}/admin/${fragment}`]
}

/** One line for each variable that holds the key of a provider. */
function environmentText({ envConnections }: Welcome): string[] {
  if (envConnections.length === 0) return []
  const lines = envConnections.map(({ variable, provider, leftOut }) =>
    leftOut === undefined
      ? `  ${variable}: connected "${provider}" as "${ENV_PREFIX}${provider}"`
      : `  ${variable}: skipped (${leftOut.replace(/\.$/, '')})`,
  )
  return [`Provider keys in the environment (use --no-env to ignore them):\n${lines.join('\n')}`]
}

const NOT_CONNECTED = 'No provider is connected yet. Until then, /v1/models lists the built-in catalog.'

const OWN_SERVER =
  'A local model server needs no API key: in step 1, send {"provider":"ollama","discover":true} to connect Ollama with its installed models. For LM Studio, llama.cpp, and vLLM, see examples/local/README.md.'

/** The commands from an empty gateway to a first answer, in blocks. */
function firstSteps({ baseUrl, token }: Pick<Welcome, 'baseUrl' | 'token'>): string[] {
  const terminal = token === undefined ? 'with SIGNALBOX_ADMIN_TOKEN set to your admin token' : 'after the export above'
  const connection = `{"provider":"openai","apiKey":"'"$OPENAI_API_KEY"'"}`
  return [
    `To send your first request, run these commands in another terminal, ${terminal}:`,
    `1. Connect a provider\n${curl(`${baseUrl}/api/connections`, { headers: [ADMIN, JSON_TYPE], body: connection })}`,
    `2. Create an API key for a client\n  SIGNALBOX_KEY=$(${curl(`${baseUrl}/api/keys`, { flags: '-s', headers: [ADMIN, JSON_TYPE], body: '{"name":"first"}' }).trim()} |\n    sed 's/.*"key":"\\([^"]*\\)".*/\\1/')`,
    `3. Send a request\n${chat(baseUrl, { flags: '-N', model: FIRST_MODEL, hasKey: true })}`,
    OWN_SERVER,
  ]
}

function modelsText({ baseUrl, requireApiKey }: Welcome): string[] {
  const command = curl(`${baseUrl}/v1/models`, { headers: requireApiKey ? [CLIENT] : [] })
  return [
    `List the models that clients can use${requireApiKey ? ', with SIGNALBOX_KEY set to an API key' : ''}:\n\n${command}`,
  ]
}

function demoText({ baseUrl, requireApiKey }: Welcome): string[] {
  const key = requireApiKey ? ', with SIGNALBOX_KEY set to an API key' : ''
  return [
    `To see a request fall back from a failing provider to a working one, run this in another terminal${key}:\n\n${chat(baseUrl, { flags: '-iN', model: DEMO, hasKey: requireApiKey })}`,
    `The response header x-signalbox-attempts lists both targets: the first failed, and the second succeeded.\nClients of any API format can use the model "${DEMO}"; Signalbox translates between formats. The provider behind "${DEMO_MESSAGES}" uses the Anthropic format.`,
  ]
}

/** The text about a gateway that requires no client key. */
function openText({ baseUrl, openTo, requireApiKey }: Welcome): string[] {
  if (requireApiKey) return []
  const command = curl(`${baseUrl}/api/settings`, {
    flags: '-X PATCH',
    headers: [ADMIN, JSON_TYPE],
    body: '{"requireApiKey":true}',
  })
  const who =
    openTo === undefined
      ? 'Clients need no API key yet, so every program on this machine can use your connections.'
      : `WARNING: ${openTo} is open to the network, and clients need no API key. Anyone who can reach the port can spend your money.`
  return [`${who} To require API keys:\n\n${command}`]
}

const ADMIN = '"authorization: Bearer $SIGNALBOX_ADMIN_TOKEN"'
const CLIENT = '"authorization: Bearer $SIGNALBOX_KEY"'
const JSON_TYPE = "'content-type: application/json'"

function chat(baseUrl: string, { flags, model, hasKey }: { flags: string; model: string; hasKey: boolean }): string {
  const body = `{"model":"${model}","stream":true,"messages":[{"role":"user","content":"Tell me a story"}]}`
  return curl(`${baseUrl}/v1/chat/completions`, { flags, headers: [...(hasKey ? [CLIENT] : []), JSON_TYPE], body })
}

interface ExampleCommand {
  flags?: string
  /** The headers, quoted for a shell. */
  headers: string[]
  body?: string
}

function curl(url: string, { flags, headers, body }: ExampleCommand): string {
  const address = url.includes('[') ? `'${url}'` : url // zsh takes an IPv6 address for a pattern
  const first = `  curl ${flags ? `${flags} ` : ''}${address}`
  const rest = [...headers.map((header) => `-H ${header}`), ...(body === undefined ? [] : [`-d '${body}'`])]
  return [first, ...rest.map((part) => `    ${part}`)].join(' \\\n')
}

const blocks = (parts: string[]) => `\n${parts.join('\n\n')}\n\n`

/**
 * The reply to `GET /`: which program this is and where to begin, as a page for browsers and as text for other clients; `undefined` for other
 * requests, and for tools that ask for JSON. It needs no credential, and therefore contains nothing about the data.
 */
export function frontPage(
  exchange: Exchange,
  { listenUrl, hasDashboard }: { listenUrl: string; hasDashboard: boolean },
): Reply | undefined {
  const { method, path } = exchange
  if (path !== '/' || (method !== 'GET' && method !== 'HEAD')) return undefined
  const accept = exchange.header('accept') ?? ''
  const isPage = accept.includes('text/html')
  if (!isPage && accept.includes('application/json')) return undefined
  const text = textOf(addressOf(exchange) ?? listenUrl, hasDashboard)
  const type = isPage ? 'text/html' : 'text/plain'
  const headers = { ...UNCACHED, ...HEADERS, 'content-type': `${type}; charset=utf-8` }
  return { status: 200, headers, ...(method === 'GET' && { body: isPage ? pageOf(text) : text }) }
}

const HEADERS = { vary: 'Accept', 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" }

/** The address that the client has used, if it is certainly nothing but an address: it becomes part of commands that are pasted into a shell. */
function addressOf(exchange: Exchange): string | undefined {
  const host = exchange.header('host') ?? ''
  const scheme = exchange.header('x-forwarded-proto') === 'https' ? 'https' : 'http'
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host) ? `${scheme}://${host}` : undefined
}

function textOf(baseUrl: string, hasDashboard: boolean): string {
  const blocks = [
    `Signalbox ${VERSION}: an LLM gateway that routes requests from your apps to the providers you connect.`,
    addresses(baseUrl),
    ...firstSteps({ baseUrl, token: undefined }),
    ...(hasDashboard ? [`The dashboard is at ${baseUrl}/admin/. Sign in with the admin token.`] : []),
    `GET ${baseUrl}/health checks whether it's up, and GET ${baseUrl}/v1/models lists the models.`,
    'The README covers the management API and all options. For the CLI, run "signalbox --help".',
  ]
  return `${blocks.join('\n\n')}\n`
}

const pageOf = (text: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Signalbox</title>
<style>body { margin: 2rem; color-scheme: light dark } pre { white-space: pre-wrap }</style>
<pre>${text.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</pre>
`
