import type { Client } from '../../client/client.ts'
import { didYouMean, nearest } from '../../lib/spelling.ts'
import { type Problem, problem } from '../problem.ts'
import type { Field } from './fields.ts'
import { type Column, details, table } from './text-table.ts'

/** A command for one resource of a gateway that runs. */
export interface CliCommand {
  help: string
  /** By their words, such as `list` and `sessions revoke`; the first one is meant when none is given. */
  actions: Readonly<Record<string, CliAction>>
  /** What users should know besides. */
  notes?: string
}

/** What a command does. */
export interface CliAction {
  help: string
  /** The words after it: `<key>` must be there, `[name]` may be missing, `[model...]` may be there several times. */
  words?: readonly string[]
  /** The options that make its input, by their names. */
  fields?: Readonly<Record<string, Field>>
  run(call: ActionCall): Promise<Printed>
}

/** An action that was called. */
export interface ActionCall {
  /** The gateway validates what comes from the command line. */
  api: Client<unknown>
  words: readonly string[]
  input: Readonly<Record<string, unknown>>
}

/** What an action prints. */
export interface Printed {
  /** For programs: what the API has answered. */
  body: object
  /** For people. */
  text: string
  /** What should not go unseen, for people. */
  warnings?: readonly string[]
}

/** What is printed of one record, by default the whole body. */
export function printed(body: object, record: object = body): Printed {
  const { warnings, ...others }: { warnings?: unknown } = { ...record }
  return { body, text: details(others), ...(Array.isArray(warnings) && { warnings: warnings.map(String) }) }
}

/** What is printed of a list; `none`: of an empty one. */
export function printedList<T>(
  body: object,
  { columns, all, none }: { columns: readonly Column<T>[]; all: readonly T[]; none: string },
): Printed {
  return { body, text: all.length > 0 ? table(columns, all) : `${none}\n` }
}

/** A record that people know by its name. */
export interface NamedRecord {
  id: string
  name: string
}

/** The id that is meant by an id or a name. Throws a problem unless exactly one record is. */
export async function idOf(given: string, noun: string, list: () => Promise<readonly NamedRecord[]>): Promise<string> {
  if (UUID.test(given)) return given // there may be very many records; the gateway knows whether it is one
  const all = await list()
  if (all.some(({ id }) => id === given)) return given
  const [first, ...others] = all.filter(({ name }) => name === given)
  if (!first)
    throw missing(
      noun,
      given,
      all.flatMap(({ id, name }) => [name, id]),
    )
  if (others.length === 0) return first.id
  const ids = [first, ...others].map(({ id }) => id).join(', ')
  throw problem(`${others.length + 1} ${noun}s are called "${given}". Give the id of one: ${ids}.`)
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The problem with a name that no record has. */
export function missing(noun: string, given: string, names: readonly string[]): Problem {
  const hint = didYouMean(nearest(given, names, 1))
  return problem(`There is no ${noun} "${given}".${hint ? ` ${hint}` : ''}`)
}
