import * as v from 'valibot'
import { gatewayError, isGatewayError } from '../errors.ts'
import { tryParseJson } from '../lib/json.ts'
import {
  callOptionsFields,
  requestModelsFields,
  type SignalboxCallOptions,
} from '../types/records/request-model-fields.ts'
import type { RequestModels } from '../types.ts'
import { effortSchema, entryParamsSchema } from './combo-entry.ts'
import { type ClosedSchema, closedObject, createInputError, parseInput, rejectArray } from './input.ts'
import { createInputSchema } from './schemas.ts'

/** The longest header that all runtimes and servers accept, in characters. */
const MAX_HEADER_LENGTH = 8 * 1024

const requestModelsSchema = createInputSchema(requestModelsFields, 'create')

/** Parses the `x-signalbox-models` header: a JSON object, or comma-separated model names. Throws `INVALID_REQUEST` with the invalid field. */
export function parseRequestModels(header: string): RequestModels {
  try {
    if (header.length > MAX_HEADER_LENGTH)
      throw createInputError(`It must not be longer than ${MAX_HEADER_LENGTH} characters.`)
    const text = header.trim()
    if (/^[^{["]/.test(text)) return parseInput(requestModelsSchema, { models: text.split(',') })
    const parsedHeader = tryParseJson(text)
    if (parsedHeader === undefined) throw createInputError('It is not valid JSON.')
    return parseInput(requestModelsSchema, parsedHeader)
  } catch (error) {
    if (!isGatewayError(error, 'INVALID_REQUEST')) throw error
    throw gatewayError('INVALID_REQUEST', { message: `x-signalbox-models: ${error.message}` })
  }
}

/** Parses the models that a `route` function returned. Throws `INVALID_REQUEST` with the invalid field. */
export const parseRouteResult = (result: unknown): RequestModels => parseInput(requestModelsSchema, result)

/** The AI SDK call field that contains options for the gateway. */
export const CALL_OPTIONS = 'providerOptions.signalbox'

const callOptionFields: unknown = closedObject({
  ...createInputSchema(callOptionsFields, 'create').entries,
  params: v.exactOptional(entryParamsSchema),
  reasoning: v.exactOptional(effortSchema),
})
const callOptionsSchema = callOptionFields as ClosedSchema<SignalboxCallOptions> // the entries and the type come from the same fields

/** Makes error messages contain each field's full path. */
const nestedCallOptionsSchema = closedObject({ [CALL_OPTIONS]: v.pipe(rejectArray(), callOptionsSchema) })

/** The start of messages about unknown fields at the top level. */
const UNKNOWN_FIELD_PATTERN = /^Unknown field "providerOptions\.signalbox\.[^.["]*"/

/** Parses an AI SDK call's options for the gateway. Throws `INVALID_REQUEST` with the invalid field. */
export function parseCallOptions(options: unknown): SignalboxCallOptions {
  try {
    return parseInput(nestedCallOptionsSchema, { [CALL_OPTIONS]: options })[CALL_OPTIONS]
  } catch (error) {
    if (!isGatewayError(error, 'INVALID_REQUEST') || !UNKNOWN_FIELD_PATTERN.test(error.message)) throw error
    const hint = 'Put model options next to it, under the provider\'s name, such as "openai".'
    throw gatewayError('INVALID_REQUEST', { message: `${error.message} ${hint}` })
  }
}
