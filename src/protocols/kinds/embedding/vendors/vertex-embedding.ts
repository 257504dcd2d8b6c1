import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { encodePathSegment } from '../../../../lib/urls.ts'
import type { ProviderTarget } from '../../../providers/target.ts'
import type { VendorAdapter, VendorContext } from '../../kind-adapters.ts'
import {
  type EmbeddingRequest,
  type EmbeddingResponse,
  getTexts,
  readVectors,
  requireFloats,
  requireTruncation,
  toUsage,
} from '../embedding.ts'
import { MAX_GOOGLE_TOKENS } from '../embedding-bounds.ts'
import { getValues, readGoogleUsage, TASK_TYPES, writeGoogleInput } from './google-embedding.ts'

const isVertexGemini = ({ cloud, format }: ProviderTarget) => cloud === 'vertex' && format === 'gemini'

/** The models that use the `predict` method. */
const PREDICT_MODELS = /^(?:text-|textembedding|gemini-embedding-001$)/

/**
 * Vertex AI truncates the end of strings that are too long, unless truncation is disabled:
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings
 */
export const vertex: VendorAdapter<EmbeddingRequest, EmbeddingResponse> = {
  name: 'vertex',
  matches: (target) => isVertexGemini(target) && PREDICT_MODELS.test(target.model),
  getMaxEntries: ({ model }) => (model === 'gemini-embedding-001' ? 1 : 250),
  getMaxTokens: () => MAX_GOOGLE_TOKENS,
  writeRequest(request, context) {
    const { inputs, dimensions } = request
    const { warnings, target } = context
    const parameters = {
      ...(dimensions !== undefined && { outputDimensionality: dimensions }),
      ...writeTruncation(request, context),
    }
    const texts = getTexts(request, warnings)
    if (request.unknownTask !== undefined) warnings.recordDrop('task')
    const instances = inputs.map(({ title, task = request.task }, index) => ({
      content: texts[index],
      ...(task && { task_type: TASK_TYPES[task] }),
      ...(title !== undefined && { title }),
    }))
    return {
      path: getPath(target, 'predict'),
      body: { instances, ...(Object.keys(parameters).length > 0 && { parameters }) },
    }
  },
  readResponse({ predictions }, request) {
    const getEmbeddings = (prediction: unknown) => (isObject(prediction) ? prediction.embeddings : undefined)
    const vectors = readVectors(predictions, request, (prediction) => getValues(getEmbeddings(prediction)))
    if (typeof vectors === 'string') return vectors
    const counts = Array.isArray(predictions)
      ? predictions.map((prediction) => readTokens(getEmbeddings(prediction)))
      : []
    const tokens = counts.reduce<number | undefined>(
      (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
      0,
    )
    return { vectors, ...toUsage(tokens) }
  },
}

/** Newer Vertex AI models, which accept one input per call. */
export const vertexSingleInput: VendorAdapter<EmbeddingRequest, EmbeddingResponse> = {
  name: 'vertex-one',
  matches: isVertexGemini,
  getMaxEntries: () => 1,
  writeRequest(request, context) {
    const [input = {}] = request.inputs
    const { content, ...rest } = writeGoogleInput(input, request, context)
    const config: JsonObject = {
      ...rest,
      ...(request.dimensions !== undefined && { outputDimensionality: request.dimensions }),
      ...writeTruncation(request, context),
    }
    return {
      path: getPath(context.target, 'embedContent'),
      body: { content, ...(Object.keys(config).length > 0 && { embedContentConfig: config }) },
    }
  },
  readResponse({ embedding, usageMetadata }, request) {
    const vectors = readVectors([embedding], request, getValues)
    return typeof vectors === 'string' ? vectors : { vectors, ...readGoogleUsage(usageMetadata) }
  },
}

const getPath = ({ model }: ProviderTarget, method: string) => `/models/${encodePathSegment(model)}:${method}`

function writeTruncation(request: EmbeddingRequest, { warnings }: VendorContext): JsonObject {
  requireFloats(request, warnings)
  requireTruncation(request, { defaultMode: 'end', otherModes: ['none'] }, warnings)
  if (request.user !== undefined) warnings.recordDrop('user')
  return request.truncation === undefined ? {} : { autoTruncate: request.truncation === 'end' }
}

function readTokens(embeddings: unknown): number | undefined {
  const statistics = isObject(embeddings) ? embeddings.statistics : undefined
  const count = isObject(statistics) ? statistics.token_count : undefined
  return typeof count === 'number' ? count : undefined
}
