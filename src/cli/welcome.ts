import type { Exchange, Reply } from '../lib/exchange.ts'
import { VERSION } from '../lib/version.ts'
import { UNCACHED_HEADERS } from '../request/door/reply.ts'
import { ENV_PREFIX } from './cli-options.ts'
import { DEMO, DEMO_MESSAGES } from './demo/demo-providers.ts'
import type { EnvConnection } from './env-connections.ts'

/** The facts to show in the startup message. */
export interface Welcome {
  /** The base URL without `/v1`. */
  baseUrl: string
  data: string
  /** The admin token if this start generated it. It is only shown once. */
  token: string | undefined
  isTokenConfigured: boolean
  demo: boolean
  requireApiKey: boolean
  /** Whether there are any connections yet. */
  isInUse: boolean
  /** The environment variables with providers' API keys. */
  envConnections: readonly EnvConnection[]
  /** The URL for other machines, if they can reach the gateway. */
  externalUrl: string | undefined
  hasDashboard: boolean
  /** Whether this is Windows, whose shells can't run the printed commands. */
  isWindows: boolean
}

/**
 * Formats the message to print once the gateway is listening. Each command can be pasted into a shell unchanged, even into zsh, which doesn't allow
 * comments interactively.
 */
export function formatWelcome(facts: Welcome): string {
  const { baseUrl, data, demo } = facts
  return joinBlocks([
    `Signalbox is running${demo ? ' with demo data' : ''}. Data directory: ${data}`,
    formatBaseUrls(baseUrl),
    ...(facts.isWindows ? ['Run the commands below in a POSIX shell, such as Git Bash or WSL.'] : []),
    formatToken(facts),
    ...formatDashboard(facts),
    ...formatVariables(facts),
    ...(demo
      ? formatDemo(facts)
      : facts.isInUse
        ? formatModels(facts)
        : [NOT_CONNECTED_MESSAGE, ...formatFirstSteps(facts)]),
    ...formatOpenWarning(facts),
  ])
}

/** Lists the base URLs for clients. */
const formatBaseUrls = (baseUrl: string): string =>
  `  OpenAI clients     ${baseUrl}/v1\n  Google clients     ${baseUrl}\n  Anthropic clients  ${baseUrl}`

/** A small model in the built-in catalog. */
export const EXAMPLE_MODEL = 'openai/gpt-5-mini'

function formatToken({ token, isTokenConfigured }: Welcome): string {
  if (token !== undefined)
    return `Your admin token, shown only once. Save it now; if you lose it, restart with --new-token:\n\n  export SIGNALBOX_ADMIN_TOKEN=${token}`
  if (isTokenConfigured) return 'Your admin token is the value of SIGNALBOX_ADMIN_TOKEN.'
  return 'Your admin token was printed on the first start with this data directory, with or without --demo. If you lost it, restart with --new-token.'
}

/** Formats the dashboard's URL. If the token is shown anyway, the URL contains it and signs the user in. Fragments aren't sent to the server. */
function formatDashboard({ hasDashboard, baseUrl, token }: Welcome): string[] {
  if (!hasDashboard) return []
  const fragment = token === undefined ? '' : `#token=${token}`
  return [`Open the dashboard in your browser:\n\n  ${baseUrl}/admin/${fragment}`]
}

/** Formats one line for each variable with a provider's API key. */
function formatVariables({ envConnections }: Welcome): string[] {
  if (envConnections.length === 0) return []
  const lines = envConnections.map(({ variable, provider, problem }) =>
    problem === undefined
      ? `  ${variable}: connected "${provider}" as "${ENV_PREFIX}${provider}"`
      : `  ${variable}: skipped (${problem.replace(/\.$/, '')})`,
  )
  return [`Provider keys in the environment (use --no-env to ignore them):\n${lines.join('\n')}`]
}

const NOT_CONNECTED_MESSAGE = 'No provider is connected yet. Until then, /v1/models lists the built-in catalog.'

const SERVER_HINT =
  'A local model server needs no API key: in step 1, send {"provider":"ollama","discover":true} to connect Ollama with its installed models. For LM Studio, llama.cpp, and vLLM, see https://github.com/signalbox-dev/signalbox/blob/HEAD/docs/src/content/docs/start/local-models.md'

/** Formats the commands that lead from an empty gateway to a first response, in blocks. */
function formatFirstSteps({ baseUrl, token }: Pick<Welcome, 'baseUrl' | 'token'>): string[] {
  const terminal = token === undefined ? 'with SIGNALBOX_ADMIN_TOKEN set to your admin token' : 'after the export above'
  const connection = `{"provider":"openai","apiKey":"'"$OPENAI_API_KEY"'"}`
  return [
    `To send your first request, run these commands in another terminal, ${terminal}:`,
    `1. Connect a provider\n${formatCurl(`${baseUrl}/api/connections`, { headers: [ADMIN_HEADER, JSON_TYPE], body: connection })}`,
    `2. Create an API key for a client\n  SIGNALBOX_KEY=$(${formatCurl(`${baseUrl}/api/keys`, { flags: '-s', headers: [ADMIN_HEADER, JSON_TYPE], body: '{"name":"first"}' }).trim()} |\n    sed 's/.*"key":"\\([^"]*\\)".*/\\1/')`,
    `3. Send a request\n${formatChatCall(baseUrl, { flags: '-N', model: EXAMPLE_MODEL, hasKey: true })}`,
    SERVER_HINT,
  ]
}

function formatModels({ baseUrl, requireApiKey }: Welcome): string[] {
  const command = formatCurl(`${baseUrl}/v1/models`, { headers: requireApiKey ? [CLIENT_HEADER] : [] })
  return [
    `List the models that clients can use${requireApiKey ? ', with SIGNALBOX_KEY set to an API key' : ''}:\n\n${command}`,
  ]
}

function formatDemo({ baseUrl, requireApiKey }: Welcome): string[] {
  const key = requireApiKey ? ', with SIGNALBOX_KEY set to an API key' : ''
  return [
    `To see a request fall back from a failing provider to a working one, run this in another terminal${key}:\n\n${formatChatCall(baseUrl, { flags: '-iN', model: DEMO, hasKey: requireApiKey })}`,
    `The response header x-signalbox-attempts lists both targets: the first failed, and the second succeeded.\nClients of any API format can use the model "${DEMO}"; Signalbox translates between formats. The provider behind "${DEMO_MESSAGES}" uses the Anthropic format.`,
  ]
}

/** Formats the message about a gateway that doesn't require API keys. */
function formatOpenWarning({ baseUrl, externalUrl: openTo, requireApiKey }: Welcome): string[] {
  if (requireApiKey) return []
  const command = formatCurl(`${baseUrl}/api/settings`, {
    flags: '-X PATCH',
    headers: [ADMIN_HEADER, JSON_TYPE],
    body: '{"requireApiKey":true}',
  })
  const subject =
    openTo === undefined
      ? 'Clients need no API key yet, so every program on this machine can use your connections.'
      : `WARNING: ${openTo} is open to the network, and clients need no API key. Anyone who can reach the port can spend your money.`
  return [`${subject} To require API keys:\n\n${command}`]
}

const ADMIN_HEADER = '"authorization: Bearer $SIGNALBOX_ADMIN_TOKEN"'
const CLIENT_HEADER = '"authorization: Bearer $SIGNALBOX_KEY"'
const JSON_TYPE = "'content-type: application/json'"

function formatChatCall(
  baseUrl: string,
  { flags, model, hasKey }: { flags: string; model: string; hasKey: boolean },
): string {
  const body = `{"model":"${model}","stream":true,"messages":[{"role":"user","content":"Tell me a story"}]}`
  return formatCurl(`${baseUrl}/v1/chat/completions`, {
    flags,
    headers: [...(hasKey ? [CLIENT_HEADER] : []), JSON_TYPE],
    body,
  })
}

interface ExampleCommand {
  flags?: string
  /** The headers, quoted for a shell. */
  headers: string[]
  body?: string
}

function formatCurl(url: string, { flags, headers, body }: ExampleCommand): string {
  const address = url.includes('[') ? `'${url}'` : url // zsh would interpret an IPv6 address as a pattern
  const first = `  curl ${flags ? `${flags} ` : ''}${address}`
  const rest = [...headers.map((header) => `-H ${header}`), ...(body === undefined ? [] : [`-d '${body}'`])]
  return [first, ...rest.map((part) => `    ${part}`)].join(' \\\n')
}

const joinBlocks = (parts: string[]) => `\n${parts.join('\n\n')}\n\n`

/**
 * Serves `GET /` as a page for browsers and as text for other clients. The page names the program and explains how to start. Returns `undefined` for
 * other requests, and for tools that request JSON. It needs no credentials, so it doesn't show any data.
 */
export function serveFrontPage(
  exchange: Exchange,
  { listenUrl, hasDashboard }: { listenUrl: string; hasDashboard: boolean },
): Reply | undefined {
  const { method, path } = exchange
  if (path !== '/' || (method !== 'GET' && method !== 'HEAD')) return undefined
  const accept = exchange.header('accept') ?? ''
  const isPage = accept.includes('text/html')
  if (!isPage && accept.includes('application/json')) return undefined
  const text = renderText(getBaseUrl(exchange) ?? listenUrl, hasDashboard)
  const type = isPage ? 'text/html' : 'text/plain'
  const headers = { ...UNCACHED_HEADERS, ...HEADERS, 'content-type': `${type}; charset=utf-8` }
  return { status: 200, headers, ...(method === 'GET' && { body: isPage ? renderPage(text) : text }) }
}

const HEADERS = { vary: 'Accept', 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" }

/**
 * Returns the URL that the client used, but only if it can't contain anything else, because it becomes part of commands that users paste into a
 * shell.
 */
function getBaseUrl(exchange: Exchange): string | undefined {
  const host = exchange.header('host') ?? ''
  const scheme = exchange.header('x-forwarded-proto') === 'https' ? 'https' : 'http'
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host) ? `${scheme}://${host}` : undefined
}

function renderText(baseUrl: string, hasDashboard: boolean): string {
  const blocks = [
    `Signalbox ${VERSION}: an LLM gateway that routes requests from your apps to the providers you connect.`,
    formatBaseUrls(baseUrl),
    ...formatFirstSteps({ baseUrl, token: undefined }),
    ...(hasDashboard ? [`The dashboard is at ${baseUrl}/admin/. Sign in with the admin token.`] : []),
    `GET ${baseUrl}/health checks whether it's up, and GET ${baseUrl}/v1/models lists the models.`,
    'The README covers the management API and all options. For the CLI, run "signalbox --help".',
  ]
  return `${blocks.join('\n\n')}\n`
}

const renderPage = (text: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Signalbox</title>
<style>body { margin: 2rem; color-scheme: light dark } pre { white-space: pre-wrap }</style>
<pre>${text.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</pre>
`
