import { isObject, type JsonObject } from '../../../lib/json.ts'
import { pathSegment } from '../../../lib/urls.ts'
import type { ProviderTarget } from '../../../providers/target.ts'
import type { VendorContext, VendorForm } from '../../forms.ts'
import {
  type Embed,
  type Embedded,
  type Input,
  requireFloats,
  requireTruncation,
  type Task,
  usageOf,
  vectorsIn,
} from '../embedding.ts'

/** https://ai.google.dev/api/embeddings. It cuts the end of texts that are too long. */
export const google: VendorForm<Embed, Embedded> = {
  name: 'google',
  isOf: ({ format, cloud }) => format === 'gemini' && cloud === undefined,
  most: () => 100,
  passes: [
    { client: 'gemini', path: (target) => pathOf(target, 'embedContent'), without: () => ['model'] },
    {
      client: 'gemini-batch',
      path: (target) => pathOf(target, 'batchEmbedContents'),
      lists: ['requests'],
      added: (_, { body, target }) => ({ requests: named(body.requests, target) }),
    },
  ],
  request(asked, context) {
    const { target, warnings } = context
    requireFloats(asked, warnings)
    requireTruncation(asked, { own: 'end' }, warnings)
    if (asked.user !== undefined) warnings.noteDropped('user')
    const requests = asked.inputs.map((input) => ({
      model: `models/${target.model}`,
      ...googleInput(input, asked, context),
      ...(asked.dimensions !== undefined && { outputDimensionality: asked.dimensions }),
    }))
    const [first] = requests
    return first && requests.length === 1
      ? { path: pathOf(target, 'embedContent'), body: first }
      : { path: pathOf(target, 'batchEmbedContents'), body: { requests } }
  },
  answer({ embeddings, embedding, usageMetadata }, asked) {
    const vectors = vectorsIn(Array.isArray(embeddings) ? embeddings : [embedding], asked, valuesIn)
    return typeof vectors === 'string' ? vectors : { vectors, ...usageIn(usageMetadata) }
  },
}

const pathOf = ({ model }: ProviderTarget, method: string) =>
  `/models/${model.split('/').map(pathSegment).join('/')}:${method}`

/** The requests of a batch, which name the model as well. */
const named = (requests: unknown, { model }: ProviderTarget): unknown =>
  Array.isArray(requests)
    ? requests.map((request) => (isObject(request) ? { ...request, model: `models/${model}` } : request))
    : requests

/** What is embedded, with what it is for: in a field, or for newer models in the text. */
export function googleInput(input: Input, asked: Embed, { target, warnings }: VendorContext): JsonObject {
  const { text, tokens, parts = [{ text: text ?? '' }], title, task = asked.task } = input
  if (tokens) return warnings.refuse('inputs', 'only models of OpenAI take tokens; send the text')
  if (asked.otherTask !== undefined) warnings.noteDropped('task')
  const isInText = TAKES_NO_TASK.test(target.model)
  const content = parts.map((part) => {
    if ('image' in part) return imagePart(part.image, warnings)
    return { text: isInText && task ? PREFIXES[task](title) + part.text : part.text }
  })
  if (isInText) return { content: { parts: content } }
  return {
    content: { parts: content },
    ...(task && { taskType: TASK_TYPES[task] }),
    ...(title !== undefined && { title }),
  }
}

const TAKES_NO_TASK = /^gemini-embedding-(?:[2-9]|[1-9]\d)/

/** What stands before a text: https://ai.google.dev/gemini-api/docs/embeddings */
const asks = (task: string) => () => `task: ${task} | query: `
const PREFIXES: Readonly<Record<Task, (title: string | undefined) => string>> = {
  query: asks('search result'),
  document: (title = 'none') => `title: ${title} | text: `,
  similarity: asks('sentence similarity'),
  classification: asks('classification'),
  clustering: asks('clustering'),
  question: asks('question answering'),
  fact: asks('fact checking'),
  code: asks('code retrieval'),
}

/** Google's names of the tasks. */
export const TASK_TYPES: Readonly<Record<Task, string>> = {
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

function imagePart(image: string, warnings: VendorContext['warnings']): JsonObject {
  const [, mimeType, data] = DATA_URL.exec(image) ?? []
  if (data === undefined) return warnings.refuse('inputs', 'this target takes images as data URLs only')
  return { inlineData: { mimeType, data } }
}

export const valuesIn = (embedding: unknown): unknown => (isObject(embedding) ? embedding.values : undefined)

/** The tokens of an answer, of which only newer models tell. */
export const usageIn = (metadata: unknown): Pick<Embedded, 'usage'> =>
  usageOf(isObject(metadata) ? metadata.promptTokenCount : undefined)
