import { describeInput } from '../../admin/http/openapi/field-words.ts'
import { acceptsBody, acceptsQuery, type NamedOperation } from '../../admin/operation-table.ts'
import type { JsonObject } from '../../lib/json.ts'
import { toFlag } from '../../lib/renamed-options.ts'
import { requireChange } from '../command-line.ts'
import { type ActionCall, type CliAction, type CommandOutput, mergeWords } from './command.ts'
import { createOptions, dataOption, type Field } from './input-options.ts'
import { callOperation } from './operation-call.ts'
import { convert, describeOutput, formatOutput, type ResultFormat } from './operation-output.ts'
import { findRequestedId, resolveNames, suggestId, toNoun } from './record-names.ts'
import { toHelp } from './wording.ts'

/** How an operation's action differs from the default action. */
export interface ActionDetails extends ResultFormat {
  /** Default: the operation's summary and description. */
  help?: string
  /** What to call the record in the path. Default: the resource's noun. */
  noun?: string
  /** Input fields that the words set. */
  words?: readonly string[]
  /** The words to show in the help, if `parseWords`, `findPath`, or `run` reads them. */
  usage?: readonly string[]
  /** Converts the words to input. */
  parseWords?(words: readonly string[]): JsonObject
  /** Finds the path parameters for the words. */
  findPath?(call: ActionCall): Promise<readonly string[]>
  /** Input fields without an option. */
  hides?: readonly string[]
  /** Additional options, or replacements for the default options. */
  fields?: Readonly<Record<string, Field>>
  /** Formats the response. */
  show?(body: object, call: ActionCall): CommandOutput | Promise<CommandOutput>
  /** Runs the action. */
  run?(call: ActionCall, steps: ActionSteps): Promise<CommandOutput>
}

/** The steps of every action. */
export interface ActionSteps {
  /** Calls the operation. Default input: the call's input. */
  perform(input?: JsonObject): Promise<object>
  /** Formats the operation's response. */
  format(body: object): CommandOutput | Promise<CommandOutput>
}

interface ActionContext {
  command: string
  words: string
  /** All of the command's actions. */
  actions: Readonly<Record<string, CliAction>>
  operations: readonly NamedOperation[]
}

/** Creates the action that calls an operation. Derives its words from the path, its options from the input, and its text from the output. */
export function createAction(operation: NamedOperation, details: ActionDetails, context: ActionContext): CliAction {
  const { method, path, summary, description = '' } = operation
  const { help = summary, words = [], findPath, run } = details
  const collection = details.noun === undefined ? path.slice(0, path.search(/\/:|$/)) : `/api/${details.noun}s`
  const noun = toNoun(collection)
  const lookup = { noun, collection, operations: context.operations }
  const pathNames = Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name)
  const pathWords = pathNames.map((name) => {
    const word = name === 'id' || details.noun !== undefined ? noun : toFlag(name)
    return path.endsWith('?') ? `[${word}]` : `<${word}>`
  })
  const fields = listFields(operation, { ...details, hides: [...(details.hides ?? []), ...pathNames] })
  const findOption = (member: string) => Object.entries(fields).find(([, field]) => field.member === member)
  const inputWords = words.map((name) => {
    const [option, field] = findOption(name) ?? []
    return option === undefined ? `<${name}>` : `[${option}${field?.isList ? '...' : ''}]`
  })

  function parseWords(commandWords: readonly string[]): JsonObject {
    if (details.parseWords) return details.parseWords(commandWords)
    const values = words.map((name, index) => {
      const rest = commandWords.slice(pathNames.length + index)
      return [name, findOption(name)?.[1].isList && rest.length > 0 ? rest : rest[0]]
    })
    return Object.fromEntries(values.filter(([, value]) => value !== undefined))
  }

  async function runAction(actionCall: ActionCall): Promise<CommandOutput> {
    const merged = mergeWords(parseWords(actionCall.words), actionCall.input, fields)
    if (method === 'PUT' || method === 'PATCH') requireChange(merged)
    const call = { ...actionCall, input: await resolveNames(merged, actionCall, context.operations) }

    async function perform(input: JsonObject = call.input): Promise<object> {
      const [word] = actionCall.words
      const isById = pathNames[0] === 'id' && word !== undefined
      const defaultWords = isById
        ? [await findRequestedId(word, call, lookup)]
        : pathNames.map((_, index) => actionCall.words[index])
      const found = findPath ? await findPath(call) : defaultWords
      const args = [...found, ...(acceptsQuery(operation) || acceptsBody(operation) ? [input] : [])]
      return callOperation(operation, args, call).catch(async (error: unknown) => {
        throw (isById && (await suggestId(error, call, lookup))) || error
      })
    }

    const format = (body: object) =>
      details.show
        ? details.show(body, call)
        : formatOutput(body, describeOutput(operation), { ...describeDefaults(call), ...details })
    return run ? run(call, { perform, format }) : format(await perform())
  }

  /** Returns the messages for an empty list, and for a response that contains only `success`. */
  function describeDefaults({ input, words: [name] }: ActionCall): ResultFormat {
    const plural = path.slice(path.lastIndexOf('/') + 1)
    const create = context.words === 'list' ? context.actions.create?.words?.join(' ') : undefined
    const hint =
      create &&
      ` yet. Create one: signalbox ${context.command} create ${create.replaceAll('[', '<').replaceAll(']', '>')}`
    const isDeletion = operation.names.at(-1) === 'delete'
    return {
      none: Object.keys(input).length > 0 ? `No matching ${plural}.` : `There are no ${plural}${hint ?? '.'}`,
      done: isDeletion ? `Deleted ${noun} "${name}".` : 'Done.',
    }
  }

  return {
    help,
    ...(details.help === undefined && description !== '' && { description: toHelp(description) }),
    words: details.usage ?? [...pathWords, ...inputWords],
    fields,
    run: runAction,
  }
}

/** Creates the options for an operation's input. */
function listFields(operation: NamedOperation, { hides = [], fields }: ActionDetails): Record<string, Field> {
  const { properties } = operation.input ? convert(operation.input) : {}
  const descriptions = describeInput(operation)
  const derived = Object.entries(Object(properties) as Record<string, JsonObject>) // the schema describes an object
    .filter(([name]) => !hides.includes(name))
    .flatMap(([name, schema]) => createOptions(name, schema, toHelp(descriptions[name] ?? '')))
  const acceptsData = acceptsBody(operation) && !operation.isBodyOptional && operation.action === undefined
  return { ...Object.fromEntries(derived), ...fields, ...(acceptsData && { data: dataOption }) }
}
