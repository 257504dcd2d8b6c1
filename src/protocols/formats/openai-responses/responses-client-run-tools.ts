import { formatScalar, isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import type { Fields } from '../canonical/canonical-fields.ts'
import type { ToolCallPart } from '../canonical/canonical-parts.ts'
import type { FunctionTool } from '../canonical/canonical-tools.ts'
import type { ToolResult } from '../canonical/canonical-turns.ts'
import { readStringOrEmpty } from '../canonical/canonical-values.ts'
import type { WireClientCall } from './responses-wire.ts'

/*
 * Tools that OpenAI defines and clients run. They have their own types, items, and outputs. For models that don't support them, they become functions
 * with the same names, and calls to these functions become items again.
 */

/** The tool types, which are also the function names. */
export type ClientToolKind = 'shell' | 'local_shell' | 'apply_patch'

interface ClientToolDefinition {
  description: string
  schema: JsonObject
  /** Returns the function arguments for a call item. */
  getArguments(item: JsonObject): unknown
  /** Creates the call item from the function arguments. Returns `undefined` if they don't fit the tool. */
  createCall(args: JsonObject): ClientCall | undefined
  /** Formats the output as text for the model. */
  formatOutput(item: JsonObject): string
}

/** A call without the fields that only response items have. */
type ClientCall = WithoutItemFields<WireClientCall>

type WithoutItemFields<Call> = Call extends unknown ? Omit<Call, 'id' | 'call_id' | 'status'> : never

const STRING_SCHEMA = { type: 'string' }

const INTEGER_SCHEMA = { type: 'integer' }

const STRING_LIST_SCHEMA = { type: 'array', items: STRING_SCHEMA }

const createSchema = (properties: JsonObject, ...required: string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
})

const definitions: Readonly<Record<ClientToolKind, ClientToolDefinition>> = {
  shell: {
    description: 'Runs shell commands on the machine of the user, side by side, and returns what each of them prints.',
    schema: createSchema(
      {
        commands: { ...STRING_LIST_SCHEMA, description: 'The commands, each one line for the shell.' },
        timeout_ms: { ...INTEGER_SCHEMA, description: 'The longest time that a command may take, in milliseconds.' },
        max_output_length: {
          ...INTEGER_SCHEMA,
          description: 'The most characters to return of the output of a command.',
        },
      },
      'commands',
    ),
    getArguments: ({ action }) => (isObject(action) ? omitNull(action) : {}),
    createCall({ commands, command, timeout_ms, max_output_length }) {
      const lines = readCommands(commands ?? command)
      if (!lines) return undefined
      const action = {
        commands: lines,
        timeout_ms: readNumberOrNull(timeout_ms),
        max_output_length: readNumberOrNull(max_output_length),
      }
      return { type: 'shell_call', action, environment: { type: 'local' } }
    },
    formatOutput: ({ output }) =>
      Array.isArray(output) ? output.filter(isObject).map(formatCommandResult).join('\n\n') : '',
  },
  local_shell: {
    description: 'Runs one command on the machine of the user and returns what it prints.',
    schema: createSchema(
      {
        command: { ...STRING_LIST_SCHEMA, description: 'The program and its arguments.' },
        working_directory: STRING_SCHEMA,
        timeout_ms: { ...INTEGER_SCHEMA, description: 'The longest time that the command may take, in milliseconds.' },
        env: { type: 'object', additionalProperties: STRING_SCHEMA, description: 'Environment variables to set.' },
      },
      'command',
    ),
    getArguments: ({ action }) => {
      const { type: _, env, ...args } = isObject(action) ? omitNull(action) : {}
      return isObject(env) && Object.keys(env).length > 0 ? { ...args, env } : args
    },
    createCall({ command, working_directory, timeout_ms, env }) {
      const commandWords = typeof command === 'string' ? ['bash', '-lc', command] : readCommands(command)
      if (!commandWords) return undefined
      const variables = Object.entries(isObject(env) ? env : {}).map(([name, value]) => [name, formatScalar(value)])
      return {
        type: 'local_shell_call',
        action: {
          ...{ type: 'exec', command: commandWords, env: Object.fromEntries(variables) },
          ...(typeof timeout_ms === 'number' && { timeout_ms }),
          ...(typeof working_directory === 'string' && { working_directory }),
        },
      }
    },
    formatOutput: ({ output }) => readStringOrEmpty(output),
  },
  apply_patch: {
    description:
      'Creates, changes or deletes one file of the user. A diff has no header and no line numbers. To create a file, each line of the diff is "+" and a line of the file. To change one, each hunk begins with a line "@@", which may name the function or class that it is in, and goes on with lines that stay (" "), go ("-") and come ("+"), with about three lines around each change.',
    schema: createSchema(
      {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: { ...STRING_SCHEMA, description: 'The path of the file, within the project.' },
        diff: { ...STRING_SCHEMA, description: 'The diff; left out to delete a file.' },
      },
      'type',
      'path',
    ),
    getArguments: ({ operation }) => (isObject(operation) ? operation : {}),
    createCall(args) {
      const { type, path, diff } = isObject(args.operation) ? args.operation : args
      if (typeof path !== 'string') return undefined
      if (type === 'delete_file') return { type: 'apply_patch_call', operation: { type, path } }
      if ((type !== 'create_file' && type !== 'update_file') || typeof diff !== 'string') return undefined
      return { type: 'apply_patch_call', operation: { type, path, diff } }
    },
    formatOutput: ({ output, status }) =>
      readStringOrEmpty(output) || (status === 'failed' ? 'The patch failed.' : 'Done.'),
  },
}

/** Returns whether a type or function name belongs to a client-run tool. */
export const isClientTool = (type: unknown): type is ClientToolKind =>
  typeof type === 'string' && Object.hasOwn(definitions, type)

/** Converts a declared tool to a function. Returns `undefined` for other tools, and for a shell that OpenAI runs. */
export function parseClientTool(tool: Fields): FunctionTool | undefined {
  const { type, environment } = tool.value
  if (!isClientTool(type)) return undefined
  const environmentFields = isObject(environment) ? environment : {}
  if ((environmentFields.type ?? 'local') !== 'local') return undefined
  const { description, schema } = definitions[type]
  const skills = Array.isArray(environmentFields.skills) ? environmentFields.skills.filter(isObject) : []
  const skillList = skills.map(
    ({ name, path, description: skillDescription }) => `- ${name} (${path}): ${skillDescription}`,
  )
  const fullDescription = [
    description,
    ...(skillList.length > 0 ? ['Skills, to be read before use:', ...skillList] : []),
  ].join('\n')
  return { type: 'function', name: type, description: fullDescription, schema, native: createNativeValue(tool.value) }
}

/** Parses a call in a client's input or in OpenAI's response. Returns `undefined` for other items. */
export function parseClientCall(item: JsonObject): Omit<ToolCallPart, 'id'> | undefined {
  const kind = getItemKind(item.type, '_call')
  if (!kind) return undefined
  const text = JSON.stringify(definitions[kind].getArguments(item))
  return { type: 'tool-call', name: kind, arguments: text, native: createNativeValue(item) }
}

/** Parses the output of a client-run tool. Returns `undefined` for other items. */
export function parseClientResult(item: JsonObject): Omit<ToolResult, 'callId'> | undefined {
  const kind = getItemKind(item.type, '_call_output')
  if (!kind) return undefined
  const text = definitions[kind].formatOutput(item)
  const isFailed = kind === 'apply_patch' && item.status === 'failed'
  return {
    name: kind,
    content: [{ type: 'text', text }],
    ...(isFailed && { isError: true }),
    native: createNativeValue(item),
  }
}

/** Creates the tool's item from a function call. Returns `undefined` if the arguments don't fit the tool. */
export function createClientCall(kind: ClientToolKind, input: string): ClientCall | undefined {
  const args = tryParseJson(input)
  return isObject(args) ? definitions[kind].createCall(args) : undefined
}

const createNativeValue = (value: JsonObject) => ({ format: 'openai-responses' as const, value })

function getItemKind(type: unknown, suffix: string): ClientToolKind | undefined {
  const kind = typeof type === 'string' && type.endsWith(suffix) ? type.slice(0, -suffix.length) : undefined
  return isClientTool(kind) ? kind : undefined
}

function readCommands(value: unknown): string[] | undefined {
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list) || list.length === 0) return undefined
  return list.every((text): text is string => typeof text === 'string') ? list : undefined
}

const omitNull = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined))

const readNumberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null)

function formatCommandResult({ stdout, stderr, outcome }: JsonObject): string {
  const { type, exit_code: code } = isObject(outcome) ? outcome : {}
  const ending = type === 'timeout' ? ['timed out'] : code === undefined ? [] : [`exit code: ${code}`]
  const errorOutput = readStringOrEmpty(stderr)
  const parts = [readStringOrEmpty(stdout), ...(errorOutput === '' ? [] : [`stderr:\n${errorOutput}`])]
  return [...ending, ...parts.filter((text) => text !== '')].join('\n')
}
