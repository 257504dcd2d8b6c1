import type { NamedOperation } from '../../admin/operation-table.ts'
import { type Client, ClientError, createClient } from '../../client/client.ts'
import { platformFetch } from '../../client/client-platform.ts'
import { createSend } from '../../client/send.ts'
import { didYouMean, findNearest } from '../../lib/spelling.ts'
import { trimTrailing } from '../../lib/urls.ts'
import { OPTIONS_ADVICE, type Variables } from '../cli-options.ts'
import { createUsageProblem, readArguments } from '../command-line.ts'
import { type Terminal, toOneLine } from '../logger.ts'
import { createProblem, isProblem, type Problem } from '../problem.ts'
import type { CliAction, CliCommand, CommandOutput } from './command.ts'
import { listCommands } from './commands.ts'
import { DEFAULT_URL, formatActionHelp, formatCommandHelp, getCommonOptions } from './help.ts'
import { createSecretOption, readInput, type Source } from './input-options.ts'
import { rewordForCli } from './wording.ts'

/** Commands that other programs use, and their equivalents here. */
const EQUIVALENT_COMMANDS: ReadonlyMap<string, string> = new Map([
  ['help', '"signalbox --help"'],
  ['version', '"signalbox --version"'],
  ...['serve', 'run', 'up'].map((word) => [word, '"signalbox start"'] as const),
])

/** The environment that a command runs in. */
export interface CommandContext {
  variables: Variables
  /** Reads all of stdin. */
  stdin(): Promise<string>
  terminal: Terminal
  /** Returns the `fetch` for calls to gateways on other machines. Default: the platform's. */
  openFetch?(): Promise<typeof fetch>
  /** The operations to create commands for. Default: the operations that every gateway has. */
  operations?: readonly NamedOperation[] | undefined
}

/** Runs a command, such as `keys list --json`. Throws a problem with exit code 1, or 2 if the command doesn't exist. */
export async function runCommand([name = '', ...args]: readonly string[], context: CommandContext): Promise<void> {
  const commands = listCommands(context.operations)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw createUnknownProblem(name, args, Object.keys(commands))
  await runKnown(name, command, args, context).catch((error: unknown) => {
    throw isProblem(error) ? createProblem(error.message, { cause: error }) : error
  })
}

function createUnknownProblem(name: string, [next = '']: readonly string[], commandNames: readonly string[]): Problem {
  const suggestion =
    name === 'help' && commandNames.includes(next) ? `"signalbox ${next} --help"` : EQUIVALENT_COMMANDS.get(name)
  const hint =
    (suggestion === undefined ? undefined : `Did you mean ${suggestion}?`) ??
    didYouMean(findNearest(name, commandNames, 1)) ??
    `Commands: ${commandNames.join(', ')}. ${OPTIONS_ADVICE}`
  return createUsageProblem(`Unknown command "${name}". ${hint}`)
}

async function runKnown(
  name: string,
  command: CliCommand,
  args: readonly string[],
  context: CommandContext,
): Promise<void> {
  if (args[0] === '--help' || args[0] === '-h') return context.terminal.out(formatCommandHelp(name, command))
  const { words, action, rest } = findAction(name, command, args)
  const { values, positionals } = readArguments(rest, { ...action.fields, ...getCommonOptions(command) })
  const { terminal } = context
  if (values.has('help')) return terminal.out(formatActionHelp(name, command, words))
  if (values.has('csv') && values.has('json'))
    throw createUsageProblem('--csv and --json conflict. Use only one of them.')
  requireWords(`signalbox ${name}${words && ` ${words}`}`, action, positionals)

  const source: Source = { variables: context.variables, stdin: readOnce(context.stdin) }
  const getLast = (option: string) => values.get(option)?.at(-1)
  const others = Object.values(command.actions).map(({ fields }) => fields)
  const rewordMessage = (message: string) =>
    rewordForCli(message, Object.assign({}, action.fields, ...others, action.fields))
  if (command.isLocal) source.variables = {} // local commands don't call a gateway
  const fetch = command.isLocal ? platformFetch : ((await context.openFetch?.()) ?? platformFetch)
  const { explain, ...gateway } = await connect(
    { url: getLast('url'), token: getLast('token') },
    { source, rewordMessage, fetch },
  )
  const input = await readInput(values, action.fields ?? {}, source)
  const createPrinter =
    (indent: number) =>
    ({ body, text, warnings = [] }: CommandOutput) => {
      terminal.out(values.has('json') ? `${JSON.stringify(body, null, indent)}\n` : text)
      if (values.has('json')) return
      for (const warning of warnings) terminal.err(`signalbox: warning: ${toOneLine(rewordMessage(warning))}\n`)
    }
  const call = { ...gateway, words: positionals, input, print: createPrinter(0), explain: rewordMessage }
  const printed = await action.run(call).catch((error: unknown) => {
    throw explain(error)
  })
  if (printed) createPrinter(2)(printed)
}

/** Finds the action named by the first words, and returns it with the remaining arguments. */
function findAction(name: string, { actions, isLocal }: CliCommand, args: readonly string[]) {
  const [first, second] = args
  for (const words of [`${first} ${second}`, `${first}`]) {
    const action = Object.hasOwn(actions, words) ? actions[words] : undefined
    if (action) return { words, action, rest: args.slice(words.split(' ').length) }
  }
  const defaultAction = actions[''] ?? (isLocal ? undefined : Object.values(actions)[0])
  if (defaultAction && '' in actions) return { words: '', action: defaultAction, rest: args }
  if (defaultAction && (first === undefined || first.startsWith('-')))
    return { words: '', action: defaultAction, rest: args }
  const actionNames = Object.keys(actions)
  if (first === undefined) throw createUsageProblem(`"signalbox ${name}" needs an action: ${actionNames.join(', ')}.`)
  const hint = didYouMean(findNearest(first, actionNames, 1)) ?? `Actions: ${actionNames.join(', ')}.`
  throw createUsageProblem(`"signalbox ${name}" has no action "${first}". ${hint}`)
}

/** Throws if required words are missing, or if there are too many. */
function requireWords(called: string, { words = [] }: CliAction, args: readonly string[]): void {
  const missing = words.find((word, index) => word.startsWith('<') && args[index] === undefined)
  if (missing !== undefined) throw createUsageProblem(`Missing ${missing}. Usage: ${called} ${words.join(' ')}`)
  const unexpected = words.at(-1)?.endsWith('...]') ? undefined : args[words.length]
  if (unexpected !== undefined)
    throw createUsageProblem(
      `Unexpected argument "${unexpected}" after "${[called, ...args.slice(0, words.length)].join(' ')}".`,
    )
}

/** Creates the client for the gateway, and the function that explains its errors. */
async function connect(
  options: { url: string | undefined; token: string | undefined },
  {
    source,
    rewordMessage,
    fetch,
  }: { source: Source; rewordMessage: (message: string) => string; fetch: typeof platformFetch },
) {
  const { SIGNALBOX_URL, SIGNALBOX_ADMIN_TOKEN } = source.variables
  const from = {
    baseUrl: options.url !== undefined ? '--url' : 'SIGNALBOX_URL',
    token: options.token !== undefined ? '--token' : 'SIGNALBOX_ADMIN_TOKEN',
  }
  const baseUrl = options.url ?? SIGNALBOX_URL ?? DEFAULT_URL
  const token = options.token === undefined ? SIGNALBOX_ADMIN_TOKEN : await readSecret(options.token, source)

  function explain(error: unknown): unknown {
    if (!(error instanceof ClientError)) return error
    const { status, code, message } = error
    const rewordedMessage = code === undefined ? rewordMessage(message) : message // errors with a code are the client's own, and contain no field names
    const sentence = /[.!?]$/.test(rewordedMessage) ? rewordedMessage : `${rewordedMessage}.`
    const advice = [
      ...(code === 'UNREACHABLE' || code === 'UNEXPECTED_ANSWER' ? ['Check --url or SIGNALBOX_URL.'] : []),
      ...(status === 401 ? ['Check --token or SIGNALBOX_ADMIN_TOKEN.'] : []),
      ...(/\/v1\/?$/.test(baseUrl) ? ['Leave /v1 off the URL.'] : []),
    ]
    return createProblem(toOneLine([sentence, ...advice].join(' ')), { cause: error })
  }

  try {
    const api: Client<unknown> = createClient({ baseUrl, fetch, ...(token !== undefined && { token }) })
    const send = createSend({ base: trimTrailing(baseUrl, '/'), token, fetch, clock: undefined })
    return { api, send, explain }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw createUsageProblem(error.message.replace(/^(?:baseUrl|token)\b/, (name) => from[name as keyof typeof from])) // the pattern matches only these two names
  }
}

const readSecret = (value: string, source: Source) =>
  Promise.resolve(createSecretOption('', '').read(value, source)).then(String)

/** Wraps `stdin` so it can be read only once, because only one option can take its value from there. */
function readOnce(stdin: () => Promise<string>): () => Promise<string> {
  let isTaken = false
  return async () => {
    if (isTaken) throw createUsageProblem('Only one option can be read from stdin.')
    isTaken = true
    return (await stdin()).replace(/\r?\n$/, '')
  }
}
