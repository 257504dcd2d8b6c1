import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../../client/client.ts'
import type { ClientRequest } from '../../client/client-request.ts'
import type { JsonObject } from '../../lib/json.ts'
import { didYouMean, findNearest } from '../../lib/spelling.ts'
import { createUsageProblem } from '../command-line.ts'
import { createProblem, type Problem } from '../problem.ts'
import type { Field } from './input-options.ts'

/** A command, such as `keys`. */
export interface CliCommand {
  help: string
  /**
   * The actions by name, such as `list` and `sessions revoke`. The first action is the default. A command with a single action stores it under an
   * empty name.
   */
  actions: Readonly<Record<string, CliAction>>
  /** Notes at the end of the help. */
  notes?: string
  /** Whether the command works on local files, without a gateway. */
  isLocal?: boolean
}

/** A command's action, such as `keys list`. */
export interface CliAction {
  help: string
  /** Details that only the help of this action shows. */
  description?: string
  /** The words after the action: `<key>` is required, `[name]` is optional, `[model...]` may be repeated. */
  words?: readonly string[]
  /** The options that set the action's input, by name. */
  fields?: Readonly<Record<string, Field>>
  /** Resolves to `undefined` if the action has already printed everything. */
  run(call: ActionCall): Promise<CommandOutput | undefined>
}

/** One call of an action. */
export interface ActionCall {
  /** The API client. It accepts any input, because the gateway validates what the command line passes. */
  api: Client<unknown>
  /** Sends a request for which the client has no function. */
  send(request: ClientRequest): Promise<object>
  words: readonly string[]
  input: Readonly<JsonObject>
  /** Prints an event immediately, as one line of JSON for programs. */
  print(printed: CommandOutput): void
  /** Rewords a message from the gateway for the command line. */
  explain(message: string): string
}

/** An action's output. */
export interface CommandOutput {
  /** The API response, for programs. */
  body: object
  /** The human-readable text. */
  text: string
  /** Human-readable warnings. */
  warnings?: readonly string[]
}

/** Merges a command's words and options into its input. Throws a problem if both set the same field to different values. */
export function mergeWords(words: object, input: object, fields: CliAction['fields'] = {}): JsonObject {
  for (const [member, text] of Object.entries(words)) {
    const other: unknown = Reflect.get(input, member)
    if (other === undefined || isDeepStrictEqual(other, text)) continue
    const option = Object.entries(fields).find(([, field]) => field.member === member)?.[0] ?? 'data'
    throw createUsageProblem(`"${[text].flat().join(' ')}" and --${option} conflict. Use only one of them.`)
  }
  return { ...words, ...input }
}

/** A record with a human-readable name. */
export interface NamedRecord {
  id: string
  name: string
}

/** Finds the ID of the record with this ID or name. Throws a problem unless there is exactly one. */
export async function findId(
  requested: string,
  noun: string,
  list: () => Promise<readonly NamedRecord[]>,
): Promise<string> {
  if (UUID_PATTERN.test(requested)) return requested // not looked up, because the list can be very long; the gateway checks the ID
  const all = await list()
  if (all.some(({ id }) => id === requested)) return requested
  const [first, ...others] = all.filter(({ name }) => name === requested)
  if (!first)
    throw createMissingProblem(
      noun,
      requested,
      all.flatMap(({ id, name }) => [name, id]),
    )
  if (others.length === 0) return first.id
  const ids = [first, ...others].map(({ id }) => id).join(', ')
  throw createProblem(`${others.length + 1} ${noun}s are named "${requested}". Use one of their IDs: ${ids}.`)
}

const UUID_PATTERN = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Creates the problem for a name that doesn't match any record. */
export function createMissingProblem(noun: string, requested: string, names: readonly string[]): Problem {
  const hint = didYouMean(findNearest(requested, names, 1))
  return createProblem(`There is no ${noun} "${requested}".${hint ? ` ${hint}` : ''}`)
}
