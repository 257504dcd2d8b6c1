import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { Fields } from '../canonical/fields.ts'
import type { ToolCallPart } from '../canonical/parts.ts'
import type { FunctionTool } from '../canonical/tools.ts'
import type { ToolResult } from '../canonical/turns.ts'
import type { WireClientCall } from './wire.ts'

/*
 * Tools that OpenAI defines and clients run. They have a type, items and outputs of their own. For models that do not know them they become
 * functions of the same name, and calls of these become items again.
 */

/** The types of the tools, which are also the names of the functions. */
export type ClientToolKind = 'shell' | 'local_shell' | 'apply_patch'

interface Definition {
  description: string
  schema: JsonObject
  /** The arguments of the function, from an item that is a call. */
  argumentsOf(item: JsonObject): unknown
  /** The item without its ids, from the arguments of the function; undefined if they do not fit the tool. */
  callOf(args: JsonObject): ClientCall | undefined
  /** The output as text for the model. */
  outputOf(item: JsonObject): string
}

/** A call without the fields that belong to an item of an answer. */
type ClientCall = WithoutItemFields<WireClientCall>

type WithoutItemFields<Call> = Call extends unknown ? Omit<Call, 'id' | 'call_id' | 'status'> : never

const TEXT = { type: 'string' }

const NUMBER = { type: 'integer' }

const LIST = { type: 'array', items: TEXT }

const objectSchema = (properties: JsonObject, ...required: string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
})

const definitions: Readonly<Record<ClientToolKind, Definition>> = {
  shell: {
    description: 'Runs shell commands on the machine of the user, side by side, and returns what each of them prints.',
    schema: objectSchema(
      {
        commands: { ...LIST, description: 'The commands, each one line for the shell.' },
        timeout_ms: { ...NUMBER, description: 'The longest time that a command may take, in milliseconds.' },
        max_output_length: { ...NUMBER, description: 'The most characters to return of the output of a command.' },
      },
      'commands',
    ),
    argumentsOf: ({ action }) => (isObject(action) ? withoutEmpty(action) : {}),
    callOf({ commands, command, timeout_ms, max_output_length }) {
      const lines = textsIn(commands ?? command)
      if (!lines) return undefined
      const action = {
        commands: lines,
        timeout_ms: numberOr(timeout_ms),
        max_output_length: numberOr(max_output_length),
      }
      return { type: 'shell_call', action, environment: { type: 'local' } }
    },
    outputOf: ({ output }) => (Array.isArray(output) ? output.filter(isObject).map(outputOfRun).join('\n\n') : ''),
  },
  local_shell: {
    description: 'Runs one command on the machine of the user and returns what it prints.',
    schema: objectSchema(
      {
        command: { ...LIST, description: 'The program and its arguments.' },
        working_directory: TEXT,
        timeout_ms: { ...NUMBER, description: 'The longest time that the command may take, in milliseconds.' },
        env: { type: 'object', additionalProperties: TEXT, description: 'Environment variables to set.' },
      },
      'command',
    ),
    argumentsOf: ({ action }) => {
      const { type: _, env, ...args } = isObject(action) ? withoutEmpty(action) : {}
      return isObject(env) && Object.keys(env).length > 0 ? { ...args, env } : args
    },
    callOf({ command, working_directory, timeout_ms, env }) {
      const words = typeof command === 'string' ? ['bash', '-lc', command] : textsIn(command)
      if (!words) return undefined
      const variables = Object.entries(isObject(env) ? env : {}).map(([name, value]) => [name, String(value)])
      return {
        type: 'local_shell_call',
        action: {
          ...{ type: 'exec', command: words, env: Object.fromEntries(variables) },
          ...(typeof timeout_ms === 'number' && { timeout_ms }),
          ...(typeof working_directory === 'string' && { working_directory }),
        },
      }
    },
    outputOf: ({ output }) => textOf(output),
  },
  apply_patch: {
    description:
      'Creates, changes or deletes one file of the user. A diff has no header and no line numbers. To create a file, each line of the diff is "+" and a line of the file. To change one, each hunk begins with a line "@@", which may name the function or class that it is in, and goes on with lines that stay (" "), go ("-") and come ("+"), with about three lines around each change.',
    schema: objectSchema(
      {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: { ...TEXT, description: 'The path of the file, within the project.' },
        diff: { ...TEXT, description: 'The diff; left out to delete a file.' },
      },
      'type',
      'path',
    ),
    argumentsOf: ({ operation }) => (isObject(operation) ? operation : {}),
    callOf(args) {
      const { type, path, diff } = isObject(args.operation) ? args.operation : args
      if (typeof path !== 'string') return undefined
      if (type === 'delete_file') return { type: 'apply_patch_call', operation: { type, path } }
      if ((type !== 'create_file' && type !== 'update_file') || typeof diff !== 'string') return undefined
      return { type: 'apply_patch_call', operation: { type, path, diff } }
    },
    outputOf: ({ output, status }) => textOf(output) || (status === 'failed' ? 'The patch failed.' : 'Done.'),
  },
}

/** Is it the type of such a tool, which is also its name as a function? */
export const isClientTool = (type: unknown): type is ClientToolKind =>
  typeof type === 'string' && Object.hasOwn(definitions, type)

/** A declared tool as a function; undefined for other tools, and for a shell that runs at OpenAI. */
export function clientTool(tool: Fields): FunctionTool | undefined {
  const { type, environment } = tool.value
  if (!isClientTool(type)) return undefined
  const place = isObject(environment) ? environment : {}
  if ((place.type ?? 'local') !== 'local') return undefined
  const { description, schema } = definitions[type]
  const skills = Array.isArray(place.skills) ? place.skills.filter(isObject) : []
  const listed = skills.map(({ name, path, description: use }) => `- ${name} (${path}): ${use}`)
  const whole = [description, ...(listed.length > 0 ? ['Skills, to be read before use:', ...listed] : [])].join('\n')
  return { type: 'function', name: type, description: whole, schema, own: ownFormOf(tool.value) }
}

/** A call in a client's input or in an answer of OpenAI; undefined for other items. */
export function clientCall(item: JsonObject): Omit<ToolCallPart, 'id'> | undefined {
  const kind = kindOfItem(item.type, '_call')
  if (!kind) return undefined
  const text = JSON.stringify(definitions[kind].argumentsOf(item))
  return { type: 'tool-call', name: kind, arguments: text, own: ownFormOf(item) }
}

/** The output of such a call; undefined for other items. */
export function clientResult(item: JsonObject): Omit<ToolResult, 'callId'> | undefined {
  const kind = kindOfItem(item.type, '_call_output')
  if (!kind) return undefined
  const text = definitions[kind].outputOf(item)
  const isFailed = kind === 'apply_patch' && item.status === 'failed'
  return { name: kind, content: [{ type: 'text', text }], ...(isFailed && { isError: true }), own: ownFormOf(item) }
}

/** The call of a function as the tool's item; undefined if the arguments do not fit the tool. */
export function clientItem(kind: ClientToolKind, input: string): ClientCall | undefined {
  const args = tryParseJson(input)
  return isObject(args) ? definitions[kind].callOf(args) : undefined
}

const ownFormOf = (value: JsonObject) => ({ format: 'openai-responses' as const, value })

function kindOfItem(type: unknown, ending: string): ClientToolKind | undefined {
  const kind = typeof type === 'string' && type.endsWith(ending) ? type.slice(0, -ending.length) : undefined
  return isClientTool(kind) ? kind : undefined
}

/** A command, or a list of commands, as a list. */
function textsIn(value: unknown): string[] | undefined {
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list) || list.length === 0) return undefined
  return list.every((text): text is string => typeof text === 'string') ? list : undefined
}

const withoutEmpty = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined))

const numberOr = (value: unknown): number | null => (typeof value === 'number' ? value : null)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

function outputOfRun({ stdout, stderr, outcome }: JsonObject): string {
  const { type, exit_code: code } = isObject(outcome) ? outcome : {}
  const end = type === 'timeout' ? ['timed out'] : code === undefined ? [] : [`exit code: ${code}`]
  const parts = [textOf(stdout), ...(textOf(stderr) === '' ? [] : [`stderr:\n${textOf(stderr)}`])]
  return [...end, ...parts.filter((text) => text !== '')].join('\n')
}
