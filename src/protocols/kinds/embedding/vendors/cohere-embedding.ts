import { isObject, type JsonObject } from '../../../../lib/json.ts'
import type { VendorAdapter, VendorContext } from '../../kind-adapters.ts'
import {
  chooseTaskName,
  type EmbeddingInput,
  type EmbeddingRequest,
  type EmbeddingResponse,
  getTexts,
  readVectors,
  recordDroppedTitles,
  toUsage,
} from '../embedding.ts'
import { MAX_COHERE_TOKENS } from '../embedding-bounds.ts'

/** https://docs.cohere.com/reference/embed */
export const cohere: VendorAdapter<EmbeddingRequest, EmbeddingResponse> = {
  name: 'cohere',
  providers: ['cohere'],
  adaptBaseUrl: (baseUrl) =>
    baseUrl.replace(/(?:\/compatibility)?\/v\d+$/, '').replace(/^https:\/\/api\.cohere\.ai$/, 'https://api.cohere.com'),
  getMaxEntries: () => 96,
  getMaxTokens: () => MAX_COHERE_TOKENS,
  passThrough: [{ client: 'cohere', path: () => EMBED_PATH, listFields: ['texts', 'images', 'inputs'] }],
  writeRequest: (request, context) => ({
    path: EMBED_PATH,
    body: { model: context.target.model, ...writeCohereBody(request, context) },
  }),
  readResponse: readCohereResponse,
}

const EMBED_PATH = '/v2/embed'

/** Writes a body without the model's name, which is part of the URL on AWS. Cohere's models require a task. */
export function writeCohereBody(request: EmbeddingRequest, { warnings }: VendorContext): JsonObject {
  const { dimensions, truncation, types, user, inputs } = request
  recordDroppedTitles(request, warnings)
  if (user !== undefined) warnings.recordDrop('user')
  const task = chooseTaskName(request, COHERE_TASKS, warnings)
  if (task === undefined) warnings.recordChange('task', 'added')
  return {
    ...(inputs.some(hasImage) ? { inputs: inputs.map(writeContent) } : { texts: getTexts(request, warnings) }),
    input_type: task ?? COHERE_TASKS.document,
    embedding_types: types ?? ['float'],
    ...(dimensions !== undefined && { output_dimension: dimensions }),
    ...(truncation && { truncate: truncation.toUpperCase() }),
  }
}

const COHERE_TASKS = {
  query: 'search_query',
  document: 'search_document',
  classification: 'classification',
  clustering: 'clustering',
}

const hasImage = ({ parts = [] }: EmbeddingInput) => parts.some((part) => 'image' in part)

const writeContent = ({ text = '', parts = [{ text }] }: EmbeddingInput) => ({
  content: parts.map((part) =>
    'text' in part ? { type: 'text', text: part.text } : { type: 'image_url', image_url: { url: part.image } },
  ),
})

/** Reads vectors by type, or one list of floats. */
export function readCohereResponse(
  { embeddings, id, meta }: JsonObject,
  request: EmbeddingRequest,
): EmbeddingResponse | string {
  const byType = isObject(embeddings) ? embeddings : { float: embeddings }
  const lists = Object.entries(byType).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
  const completeLists = lists.filter(([, list]) => list.length === request.inputs.length)
  const floats = byType.float ?? byType.base64
  const vectors = floats === undefined && completeLists.length > 0 ? [] : readVectors(floats, request, (item) => item)
  if (typeof vectors === 'string') return vectors
  if (completeLists.length < lists.length) return 'an embedding for each input'
  const billedUnits = isObject(meta) && isObject(meta.billed_units) ? meta.billed_units : {}
  const { input_tokens: tokens, image_tokens: imageTokens = 0 } = billedUnits
  return {
    vectors,
    vectorsByType: Object.fromEntries(lists),
    ...(typeof id === 'string' && { id }),
    ...toUsage(typeof tokens === 'number' && typeof imageTokens === 'number' ? tokens + imageTokens : tokens),
  }
}
