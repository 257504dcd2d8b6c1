import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { encodePathSegment } from '../../../../lib/urls.ts'
import type { ProviderTarget } from '../../../providers/target.ts'
import type { VendorAdapter, VendorContext } from '../../kind-adapters.ts'
import {
  chooseTaskName,
  type EmbeddingRequest,
  type EmbeddingResponse,
  getTexts,
  readVectors,
  recordDroppedTitles,
  requireFloats,
  requireTruncation,
  toUsage,
} from '../embedding.ts'
import { MAX_COHERE_TOKENS } from '../embedding-bounds.ts'
import { readCohereResponse, writeCohereBody } from './cohere-embedding.ts'

/** Creates the adapter for a model family on AWS Bedrock, because each family has its own format. */
const createBedrockAdapter = (
  family: Pick<
    VendorAdapter<EmbeddingRequest, EmbeddingResponse>,
    'name' | 'getMaxEntries' | 'getMaxTokens' | 'readResponse'
  > & {
    models: RegExp
    body(request: EmbeddingRequest, context: VendorContext): JsonObject
  },
): VendorAdapter<EmbeddingRequest, EmbeddingResponse> => ({
  name: family.name,
  matches: ({ cloud, model }: ProviderTarget) => cloud === 'bedrock' && family.models.test(model),
  ...(family.getMaxEntries && { getMaxEntries: family.getMaxEntries }),
  ...(family.getMaxTokens && { getMaxTokens: family.getMaxTokens }),
  writeRequest: (request, context) => ({
    path: `/model/${encodePathSegment(context.target.model)}/invoke`,
    body: family.body(request, context),
  }),
  readResponse: family.readResponse,
  readHeaderUsage(header) {
    const tokens = Number(header('x-amzn-bedrock-input-token-count') ?? Number.NaN)
    return Number.isInteger(tokens) ? toUsage(tokens).usage : undefined
  },
})

/** Cohere's models. Their names may start with a region. */
export const bedrockCohere = createBedrockAdapter({
  name: 'bedrock-cohere',
  models: /(?:^|\.)cohere\./,
  getMaxEntries: () => 96,
  getMaxTokens: () => MAX_COHERE_TOKENS,
  body: writeCohereBody,
  readResponse: readCohereResponse,
})

/** Amazon Nova. It accepts one string per call. */
export const bedrockNova = createBedrockAdapter({
  name: 'bedrock-nova',
  models: /(?:^|\.)amazon\.nova/,
  getMaxEntries: () => 1,
  body(request, { warnings }) {
    const [value = ''] = getPlainTexts(request, warnings)
    const { truncation = 'none', dimensions } = request
    return {
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: chooseTaskName(request, NOVA_TASKS, warnings) ?? NOVA_TASKS.document,
        ...(dimensions !== undefined && { embeddingDimension: dimensions }),
        text: { truncationMode: truncation.toUpperCase(), value },
      },
    }
  },
  readResponse({ embeddings, inputTokenCount }, request) {
    return addUsage(readVectors(embeddings, request, getEmbedding), inputTokenCount)
  },
})

const NOVA_TASKS = {
  query: 'TEXT_RETRIEVAL',
  document: 'GENERIC_INDEX',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
}

/** Amazon Titan. It accepts one string per call, and rejects strings that are too long. */
export const bedrockTitan = createBedrockAdapter({
  name: 'bedrock-titan',
  models: /./,
  getMaxEntries: () => 1,
  body(request, { warnings }) {
    const [inputText] = getPlainTexts(request, warnings)
    requireTruncation(request, { defaultMode: 'none' }, warnings)
    chooseTaskName(request, {}, warnings)
    const { dimensions } = request
    return { inputText, ...(dimensions !== undefined && { dimensions }) }
  },
  readResponse({ embedding, inputTextTokenCount }, request) {
    return addUsage(
      readVectors([embedding], request, (item) => item),
      inputTextTokenCount,
    )
  },
})

function getPlainTexts(request: EmbeddingRequest, warnings: VendorContext['warnings']): string[] {
  requireFloats(request, warnings)
  recordDroppedTitles(request, warnings)
  if (request.user !== undefined) warnings.recordDrop('user')
  return getTexts(request, warnings)
}

const getEmbedding = (item: unknown): unknown => (isObject(item) ? item.embedding : undefined)

const addUsage = (vectors: EmbeddingResponse['vectors'] | string, tokens: unknown): EmbeddingResponse | string =>
  typeof vectors === 'string' ? vectors : { vectors, ...toUsage(tokens) }
