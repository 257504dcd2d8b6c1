import type { CliAction } from './command.ts'

/** HTTP API calls in a gateway's messages, and the equivalent commands. The first match is used. */
const COMMANDS_BY_CALL: ReadonlyArray<[call: RegExp, command: string]> = [
  [/\b[A-Z]+ \S+ does not exist here/g, "This gateway doesn't support this command"],
  [
    /Send PATCH \/api\/settings with its URL as "cloudUrl" first/g,
    'Set it with "signalbox cloud enable <url>" or "signalbox settings update --cloud-url <url>"',
  ],
  [
    /PATCH \/api\/settings with "requireApiKey"/g,
    '"signalbox settings update --require-api-key" (or --no-require-api-key)',
  ],
  [
    /by POST \/api\/sync\/cloud with the action "enable" or "disable"/g,
    'by "signalbox cloud enable" and "signalbox cloud disable"',
  ],
  [/POST \/api\/sync\/cloud with the action "(\w+)"/g, '"signalbox cloud $1"'],
  [
    /PUT \/api\/keys\/\{id\} with "isActive", or DELETE/g,
    '"signalbox keys update" with --paused or --active, or "signalbox keys delete"',
  ],
  [
    /PUT \/api\/groups\/\{id\} with "isActive", or DELETE/g,
    '"signalbox groups update" with --paused or --active, or "signalbox groups delete"',
  ],
  [
    /POST \/api\/accounts\/\{id\}\/resume, or DELETE/g,
    '"signalbox accounts pause", "signalbox accounts resume", or "signalbox accounts delete"',
  ],
  [/GET \/api\/accounts\?plan=\{id\}/g, '"signalbox accounts list --plan {id}"'],
  [/DELETE \/api\/keys\/\{id\}/g, '"signalbox keys delete"'],
  [/PUT \/api\/keys\/\{id\} with "group"/g, '"signalbox keys update" with --group, or with null in --data'],
  [
    / at \S*\/api\/connections \(POST \{"provider":"([\w.-]+)","apiKey":"<API key>"\}\)/g,
    ': "signalbox connections create $1 --api-key -"',
  ],
  [
    /add or activate one at \S*\/api\/connections\b(?: \(POST [^()]*\))?/g,
    'add or activate one: "signalbox connections create", or "signalbox connections update" with --active',
  ],
  [/add one at \S*\/api\/connections\b/g, 'add one: "signalbox connections create"'],
  [/PUT \S*\/api\/combos\/\{id\}/g, '"signalbox combos update"'],
  [/PUT \S*\/api\/health\/records\/\{key\}/g, '"signalbox health repair"'],
  [/DELETE \S*\/api\/health\/records\/\{key\}/g, '"signalbox health remove"'],
  [/POST \S*\/api\/guards/g, '"signalbox guards create"'],
  [/POST \S*\/api\/keys/g, '"signalbox keys create"'],
  [/POST \S*\/api\/explain/g, '"signalbox explain"'],
  [/GET \S*\/api\/health/g, '"signalbox health"'],
  [/GET \S*\/api\/keys/g, '"signalbox keys"'],
  [/GET \S*\/api\/providers/g, '"signalbox providers"'],
  [/GET (?!https?:)\S*\/v1\/models/g, '"signalbox models"'],
]

/** Wording about sending requests, and its equivalent for commands. */
const COMMANDS_BY_REQUEST: typeof COMMANDS_BY_CALL = [
  [/, as "Authorization: Bearer <token>"| as "Authorization: Bearer <token>"/g, ''],
  [/[Ss]end null or omit it/g, 'omit it'],
  [/, or null for none/g, ', or --data with null for none'],
  [/\bSend "signalbox\b/g, 'Run "signalbox'],
  [/\bSend\b/g, 'Pass'],
  [/\bsend\b/g, 'pass'],
]

const replaceCalls = (message: string, table: typeof COMMANDS_BY_CALL) =>
  table.reduce((text, [call, command]) => text.replace(call, command), message)

/** Replaces HTTP API calls in a message with commands. */
export const replaceCallsWithCommands = (message: string): string =>
  replaceCalls(message, COMMANDS_BY_CALL).replace(ASK_OPERATOR_PATTERN, (_, first: string) => first.toUpperCase())

/** Converts an API description to a help line. */
export const toHelp = (description: string): string =>
  replaceCallsWithCommands(description).replaceAll('`', '').replace(/\.$/, '')

/** Matches advice to ask the operator, because the user of the CLI is the operator. */
const ASK_OPERATOR_PATTERN = /Ask the operator of this gateway to (\w)/g

/** Rewrites a gateway message for the CLI: replaces HTTP calls with commands, and input fields with the action's options. */
export function rewordForCli(message: string, fields: CliAction['fields'] = {}): string {
  const inCommands = replaceCalls(replaceCallsWithCommands(message), COMMANDS_BY_REQUEST)
  const options = Object.entries(fields)
  const findOption = (member: string, value?: unknown) =>
    options
      .filter(
        ([, { isAlias, member: memberName, label, value: flagValue }]) =>
          !isAlias && memberName === member && (value === undefined ? label !== '' : flagValue === value),
      )
      .map(([name]) => `--${name}`)
      .filter((option) => !option.endsWith('-env'))
      .join(' or ')
  const withPaths = inCommands.replace(FIELD_PATH_PATTERN, (match, member: string, path: string) => {
    const option = findOption(member)
    return option === '' || member === 'providerSpecificData' ? match : `${option} ${path}`
  })
  return withPaths.replace(FIELD_PATTERN, (match, member: string, to?: string) => {
    const option = findOption(member, to === undefined ? undefined : to.endsWith('true'))
    if (option !== '') return option
    if (member === 'cloudUrl') return '<url>' // the argument of `signalbox cloud enable`
    return match.startsWith('"providerSpecificData.') && 'data' in fields ? `${match} of --data` : match
  })
}

/** Matches a field path such as `"limits.usd.day"`, which is `--limit usd.day=5` in the CLI. */
const FIELD_PATH_PATTERN = /"([A-Za-z]\w*)\.([A-Za-z][\w.-]*)"/g

/** Matches field names: `"models"`, `"models[1]"`, `"providerSpecificData.baseUrl"`, `"isActive" to false`, and `"discover": true`. */
const FIELD_PATTERN = /"(?:providerSpecificData\.)?([A-Za-z]\w*)(?:\[\d+\])?"((?: to|:) (?:true|false)\b)?/g
