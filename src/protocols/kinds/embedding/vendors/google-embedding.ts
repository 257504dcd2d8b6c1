import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { encodePathSegment } from '../../../../lib/urls.ts'
import type { ProviderTarget } from '../../../providers/target.ts'
import type { VendorAdapter, VendorContext } from '../../kind-adapters.ts'
import {
  type EmbeddingInput,
  type EmbeddingRequest,
  type EmbeddingResponse,
  type EmbeddingTask,
  readVectors,
  requireFloats,
  requireTruncation,
  toUsage,
} from '../embedding.ts'
import { MAX_GOOGLE_TOKENS } from '../embedding-bounds.ts'

/** https://ai.google.dev/api/embeddings. Google truncates the end of strings that are too long. */
export const google: VendorAdapter<EmbeddingRequest, EmbeddingResponse> = {
  name: 'google',
  matches: ({ format, cloud }) => format === 'gemini' && cloud === undefined,
  getMaxEntries: () => 100,
  getMaxTokens: () => MAX_GOOGLE_TOKENS,
  passThrough: [
    { client: 'gemini', path: (target) => getPath(target, 'embedContent'), getExcludedFields: () => ['model'] },
    {
      client: 'gemini-batch',
      path: (target) => getPath(target, 'batchEmbedContents'),
      listFields: ['requests'],
      getAddedFields: (_, { body, target }) => ({ requests: setModel(body.requests, target) }),
    },
  ],
  writeRequest(request, context) {
    const { target, warnings } = context
    requireFloats(request, warnings)
    requireTruncation(request, { defaultMode: 'end' }, warnings)
    if (request.user !== undefined) warnings.recordDrop('user')
    const requests = request.inputs.map((input) => ({
      model: `models/${target.model}`,
      ...writeGoogleInput(input, request, context),
      ...(request.dimensions !== undefined && { outputDimensionality: request.dimensions }),
    }))
    const [first] = requests
    return first && requests.length === 1
      ? { path: getPath(target, 'embedContent'), body: first }
      : { path: getPath(target, 'batchEmbedContents'), body: { requests } }
  },
  readResponse({ embeddings, embedding, usageMetadata }, request) {
    const vectors = readVectors(Array.isArray(embeddings) ? embeddings : [embedding], request, getValues)
    return typeof vectors === 'string' ? vectors : { vectors, ...readGoogleUsage(usageMetadata) }
  },
}

const getPath = ({ model }: ProviderTarget, method: string) =>
  `/models/${model.split('/').map(encodePathSegment).join('/')}:${method}`

/** Sets the model in each request in a batch. */
const setModel = (requests: unknown, { model }: ProviderTarget): unknown =>
  Array.isArray(requests)
    ? requests.map((request) => (isObject(request) ? { ...request, model: `models/${model}` } : request))
    : requests

/** Writes an input with its task. Newer models expect the task in the text, and older ones expect it in a field. */
export function writeGoogleInput(
  input: EmbeddingInput,
  request: EmbeddingRequest,
  { target, warnings }: VendorContext,
): JsonObject {
  const { text, tokens, parts = [{ text: text ?? '' }], title, task = request.task } = input
  if (tokens) return warnings.reject('inputs', 'only OpenAI models accept tokens; send the text')
  if (request.unknownTask !== undefined) warnings.recordDrop('task')
  const isInText = TASK_IN_TEXT.test(target.model)
  const content = parts.map((part) => {
    if ('image' in part) return writeImagePart(part.image, warnings)
    return { text: isInText && task ? PREFIX_BY_TASK[task](title) + part.text : part.text }
  })
  if (isInText) return { content: { parts: content } }
  return {
    content: { parts: content },
    ...(task && { taskType: TASK_TYPES[task] }),
    ...(title !== undefined && { title }),
  }
}

const TASK_IN_TEXT = /^gemini-embedding-(?:[2-9]|[1-9]\d)/

/** Text prefixes by task: https://ai.google.dev/gemini-api/docs/embeddings */
const createPrefix = (task: string) => () => `task: ${task} | query: `
const PREFIX_BY_TASK: Readonly<Record<EmbeddingTask, (title: string | undefined) => string>> = {
  query: createPrefix('search result'),
  document: (title = 'none') => `title: ${title} | text: `,
  similarity: createPrefix('sentence similarity'),
  classification: createPrefix('classification'),
  clustering: createPrefix('clustering'),
  question: createPrefix('question answering'),
  fact: createPrefix('fact checking'),
  code: createPrefix('code retrieval'),
}

/** Google's names for tasks. */
export const TASK_TYPES: Readonly<Record<EmbeddingTask, string>> = {
  query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  similarity: 'SEMANTIC_SIMILARITY',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
  question: 'QUESTION_ANSWERING',
  fact: 'FACT_VERIFICATION',
  code: 'CODE_RETRIEVAL_QUERY',
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s

function writeImagePart(image: string, warnings: VendorContext['warnings']): JsonObject {
  const [, mimeType, data] = DATA_URL.exec(image) ?? []
  if (data === undefined) return warnings.reject('inputs', 'the target only accepts images as data URLs')
  return { inlineData: { mimeType, data } }
}

/** Returns an embedding's numbers. */
export const getValues = (embedding: unknown): unknown => (isObject(embedding) ? embedding.values : undefined)

/** Reads the usage, which only newer models report. */
export const readGoogleUsage = (metadata: unknown): Pick<EmbeddingResponse, 'usage'> =>
  toUsage(isObject(metadata) ? metadata.promptTokenCount : undefined)
