import { gatewayError, isGatewayError } from '../errors.ts'
import { tryParseJson } from '../lib/json.ts'
import { requestModelsFields } from '../types/records/request-models.ts'
import type { RequestModels } from '../types.ts'
import { invalidInput, parseInput } from './input.ts'
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
    if (given === undefined) throw invalidInput('It is no JSON.')
    return parseInput(schema, given)
  } catch (thrown) {
    if (!isGatewayError(thrown, 'INVALID_REQUEST')) throw thrown
    throw gatewayError('INVALID_REQUEST', { message: `x-signalbox-models: ${thrown.message}` })
  }
}
