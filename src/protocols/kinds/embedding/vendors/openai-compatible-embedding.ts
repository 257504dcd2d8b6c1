import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { readTokenCount } from '../../../formats/canonical/canonical-values.ts'
import { readCost } from '../../../formats/canonical/reported-cost.ts'
import { isBlankUsage } from '../../../formats/canonical/reported-usage.ts'
import type { VendorAdapter, VendorContext } from '../../kind-adapters.ts'
import { encodeVector } from '../clients/openai-embedding-client.ts'
import {
  chooseTaskName,
  type EmbeddingRequest,
  type EmbeddingResponse,
  type EmbeddingTask,
  getTexts,
  readVectors,
  recordDroppedTitles,
  requireFloats,
  requireTruncation,
  type Truncation,
} from '../embedding.ts'
import { isVector } from '../vectors.ts'
import { skimResponse } from './skimmed-embedding.ts'

/** An OpenAI-compatible vendor's limits and option names. */
export interface Dialect
  extends Pick<VendorAdapter<EmbeddingRequest, EmbeddingResponse>, 'name' | 'providers' | 'matches' | 'getMaxTokens'> {
  /** Maximum number of inputs in one call. */
  maxInputs?: number
  /** The field for the vector length. Absent if the vendor's models have a fixed length. */
  dimensions?: 'dimensions' | 'output_dimension'
  /** The vendor's names for tasks. `fallback` is the task to send if the client sets none. */
  task?: {
    name: 'input_type' | 'task'
    names: Readonly<Partial<Record<EmbeddingTask, string>>>
    fallback?: EmbeddingTask
  }
  /** How the vendor truncates strings that are too long, and the fields that change the truncation. Default: the vendor rejects such strings. */
  truncation?: { defaultMode: Truncation; fields: Readonly<Partial<Record<Truncation, JsonObject>>> }
  /** The fields that request base64. Absent if the vendor returns only numbers. */
  base64?: JsonObject
  supportsUser?: true
  /** Whether the vendor accepts tokens instead of text. */
  supportsTokens?: true
  /**
   * Whether options from OpenAI's clients stay unchanged: `all` always keeps them; `plain` keeps them if they are all OpenAI's own. Default: they are
   * translated to the vendor's names.
   */
  keepsOptions?: 'all' | 'plain'
}

/** Creates the adapter for an OpenAI-compatible vendor with its own names for some options. */
export function createOpenaiAdapter(dialect: Dialect): VendorAdapter<EmbeddingRequest, EmbeddingResponse> {
  const { name, providers, matches, maxInputs, getMaxTokens, base64, supportsTokens } = dialect
  const writeInputs = (request: EmbeddingRequest, { warnings }: VendorContext) =>
    supportsTokens && request.inputs.every(({ tokens, text }) => tokens ?? text !== undefined)
      ? request.inputs.map(({ tokens, text }) => tokens ?? text)
      : getTexts(request, warnings)
  return {
    name,
    ...(providers && { providers }),
    ...(matches && { matches }),
    ...(maxInputs !== undefined && { getMaxEntries: () => maxInputs }),
    ...(getMaxTokens && { getMaxTokens }),
    passThrough: [
      {
        client: 'openai',
        path: () => EMBEDDINGS_PATH,
        listFields: ['input'],
        getExcludedFields(request, context) {
          if (keepsClientOptions(dialect, context))
            return [
              ...(base64 ? [] : ENCODING_OPTIONS),
              ...(usesVoyageDimensions(dialect, context) ? [VOYAGE_DIMENSIONS] : []),
            ]
          return request.encoding === 'raw' ? EMBEDDING_OPTIONS : [...EMBEDDING_OPTIONS, ...ENCODING_OPTIONS]
        },
        getAddedFields(request, context) {
          if (!keepsClientOptions(dialect, context)) return writeOptions(dialect, request, context)
          return usesVoyageDimensions(dialect, context) ? { dimensions: request.dimensions } : {}
        },
        accepts: ({ inputs }) => supportsTokens || !inputs.some(({ tokens }) => tokens),
        skim: (text, { encoding }) => (encoding === 'float' ? skimResponse(text) : undefined),
        rewriteResponse: reencodeResponse,
      },
    ],
    writeRequest(request, context) {
      const { target, warnings } = context
      requireFloats(request, warnings)
      recordDroppedTitles(request, warnings)
      const options = writeOptions(dialect, request, context)
      return { path: EMBEDDINGS_PATH, body: { model: target.model, input: writeInputs(request, context), ...options } }
    },
    readResponse: readOpenaiResponse,
  }
}

const EMBEDDINGS_PATH = '/embeddings'

/** The request fields that vendors name differently. */
const EMBEDDING_OPTIONS = ['dimensions', 'output_dimension', 'input_type', 'task', 'truncate', 'truncation', 'user']
const ENCODING_OPTIONS = ['encoding_format']

/** The options that OpenAI doesn't have. */
const FOREIGN_OPTIONS = ['output_dimension', 'input_type', 'task', 'truncate', 'truncation']

const VOYAGE_DIMENSIONS = 'output_dimension'

/** Returns whether a request sets the vector length in Voyage's field, which other servers don't support. */
const usesVoyageDimensions = ({ dimensions }: Dialect, { body }: VendorContext): boolean =>
  dimensions === 'dimensions' && (body[VOYAGE_DIMENSIONS] ?? null) !== null

const keepsClientOptions = ({ keepsOptions }: Dialect, { body }: VendorContext): boolean =>
  keepsOptions === 'all' || (keepsOptions === 'plain' && !FOREIGN_OPTIONS.some((name) => Object.hasOwn(body, name)))

function writeOptions(dialect: Dialect, request: EmbeddingRequest, { warnings }: VendorContext): JsonObject {
  const { dimensions, encoding, truncation, user } = request
  const { task, base64 = {}, supportsUser, truncation: truncationRules = { defaultMode: 'none', fields: {} } } = dialect
  const options: JsonObject = {}
  if (dimensions !== undefined) {
    if (!dialect.dimensions) return warnings.reject('dimensions', 'the target only supports one vector length')
    options[dialect.dimensions] = dimensions
  }
  const taskName = chooseTaskName(request, task?.names ?? {}, warnings) ?? (task?.fallback && task.names[task.fallback])
  if (task && taskName !== undefined) options[task.name] = taskName
  const otherModes = Object.keys(truncationRules.fields) as Truncation[] // `fields` has no other keys
  requireTruncation(request, { defaultMode: truncationRules.defaultMode, otherModes }, warnings)
  if (truncation) Object.assign(options, truncationRules.fields[truncation])
  if (encoding === 'base64') Object.assign(options, base64)
  if (user !== undefined) {
    if (supportsUser) options.user = user
    else warnings.recordDrop('user')
  }
  return options
}

function readOpenaiResponse(
  { data, model, usage, id }: JsonObject,
  request: EmbeddingRequest,
): EmbeddingResponse | string {
  const vectors = readVectors(sortByIndex(data), request, (item) => (isObject(item) ? item.embedding : undefined))
  if (typeof vectors === 'string') return vectors
  const usageFields = isObject(usage) ? usage : {}
  const reportedUsage = {
    inputTokens: readTokenCount(usageFields.total_tokens) || readTokenCount(usageFields.prompt_tokens),
    outputTokens: 0,
  }
  const usageWithCost = { ...reportedUsage, ...readCost(usageFields) }
  return {
    vectors,
    ...(typeof model === 'string' && { model }),
    ...(typeof id === 'string' && { id }),
    ...(!isBlankUsage(usageWithCost) && { usage: usageWithCost }),
  }
}

/** Sorts items by `index`, unless indexes are missing. */
function sortByIndex(data: unknown): unknown {
  if (!Array.isArray(data)) return data
  const sortedItems: unknown[] = []
  for (const item of data) {
    const index: unknown = isObject(item) ? item.index : undefined
    if (typeof index !== 'number' || !(index in data) || index in sortedItems) return data
    sortedItems[index] = item
  }
  return sortedItems
}

/** Re-encodes the vectors for the client, or returns `undefined` if they are already in its encoding. */
function reencodeResponse(json: JsonObject, request: EmbeddingRequest): JsonObject | undefined {
  const { data } = json
  if (request.encoding === 'raw' || !Array.isArray(data)) return undefined
  const requestedType = request.encoding === 'base64' ? 'string' : 'object'
  if (data.every((item) => isObject(item) && typeof item.embedding === requestedType)) return undefined
  return { ...json, data: data.map((item) => reencodeItem(item, request)) }
}

const reencodeItem = (item: unknown, request: EmbeddingRequest): unknown =>
  isObject(item) && isVector(item.embedding, request.encoding)
    ? { ...item, embedding: encodeVector(item.embedding, request) }
    : item
