import * as v from 'valibot'
import { gatewayError, isGatewayError } from '../errors.ts'
import { tryParseJson } from '../lib/json.ts'
import {
  callOptionsFields,
  requestModelsFields,
  type SignalboxCallOptions,
} from '../types/records/request-model-fields.ts'
import type { RequestModels } from '../types.ts'
import { effort, entryParams } from './combo-entry.ts'
import { type ClosedSchema, closed, invalidInput, noList, parseInput } from './input.ts'
import { inputSchema } from './schemas.ts'

/** In characters, of a header that every runtime and server lets pass. */
const MOST = 8 * 1024

const schema = inputSchema(requestModelsFields, 'create')

/**
 * Parses the header `x-signalbox-models`: a JSON object, or model names with commas between. Throws `INVALID_REQUEST` with the member that is
 * wrong.
 */
export function parseRequestModels(header: string): RequestModels {
  try {
    if (header.length > MOST) throw invalidInput(`It must not be longer than ${MOST} characters.`)
    const text = header.trim()
    if (/^[^{["]/.test(text)) return parseInput(schema, { models: text.split(',') })
    const given = tryParseJson(text)
    if (given === undefined) throw invalidInput('It is not valid JSON.')
    return parseInput(schema, given)
  } catch (thrown) {
    if (!isGatewayError(thrown, 'INVALID_REQUEST')) throw thrown
    throw gatewayError('INVALID_REQUEST', { message: `x-signalbox-models: ${thrown.message}` })
  }
}

/** Where a call of the AI SDK has its options for the gateway. */
export const CALL_OPTIONS = 'providerOptions.signalbox'

const options: unknown = closed({
  ...inputSchema(callOptionsFields, 'create').entries,
  params: v.exactOptional(entryParams),
  reasoning: v.exactOptional(effort),
})
const callOptions = options as ClosedSchema<SignalboxCallOptions> // the entries and the type come from the same fields

/** So that each member is named by its whole path. */
const atItsPlace = closed({ [CALL_OPTIONS]: v.pipe(noList(), callOptions) })

/** What is said of a member that is not known, and not within another one. */
const UNKNOWN = /^Unknown field "providerOptions\.signalbox\.[^.["]*"/

/** Checks the options of a call of the AI SDK for the gateway. Throws `INVALID_REQUEST` with the member that is wrong. */
export function parseCallOptions(given: unknown): SignalboxCallOptions {
  try {
    return parseInput(atItsPlace, { [CALL_OPTIONS]: given })[CALL_OPTIONS]
  } catch (thrown) {
    if (!isGatewayError(thrown, 'INVALID_REQUEST') || !UNKNOWN.test(thrown.message)) throw thrown
    const hint = 'Put model options next to it, under the provider\'s name, such as "openai".'
    throw gatewayError('INVALID_REQUEST', { message: `${thrown.message} ${hint}` })
  }
}
