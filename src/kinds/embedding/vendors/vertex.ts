import { isObject, type JsonObject } from '../../../lib/json.ts'
import { pathSegment } from '../../../lib/urls.ts'
import type { ProviderTarget } from '../../../providers/target.ts'
import type { VendorContext, VendorForm } from '../../forms.ts'
import {
  type Embed,
  type Embedded,
  requireFloats,
  requireTruncation,
  textsOf,
  usageOf,
  vectorsIn,
} from '../embedding.ts'
import { googleInput, TASK_TYPES, usageIn, valuesIn } from './google.ts'

const isVertex = ({ cloud, format }: ProviderTarget) => cloud === 'vertex' && format === 'gemini'

/** The models of the method `predict`. */
const PREDICTS = /^(?:text-|textembedding|gemini-embedding-001$)/

/**
 * Vertex AI. https://docs.cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings. It cuts the end of texts that are too long
 * unless it is told not to.
 */
export const vertex: VendorForm<Embed, Embedded> = {
  name: 'vertex',
  isOf: (target) => isVertex(target) && PREDICTS.test(target.model),
  most: ({ model }) => (model === 'gemini-embedding-001' ? 1 : 250),
  request(asked, context) {
    const { inputs, dimensions } = asked
    const { warnings, target } = context
    const parameters = {
      ...(dimensions !== undefined && { outputDimensionality: dimensions }),
      ...cutting(asked, context),
    }
    const texts = textsOf(asked, warnings)
    if (asked.otherTask !== undefined) warnings.noteDropped('task')
    const instances = inputs.map(({ title, task = asked.task }, at) => ({
      content: texts[at],
      ...(task && { task_type: TASK_TYPES[task] }),
      ...(title !== undefined && { title }),
    }))
    return {
      path: pathOf(target, 'predict'),
      body: { instances, ...(Object.keys(parameters).length > 0 && { parameters }) },
    }
  },
  answer({ predictions }, asked) {
    const found = (prediction: unknown) => (isObject(prediction) ? prediction.embeddings : undefined)
    const vectors = vectorsIn(predictions, asked, (prediction) => valuesIn(found(prediction)))
    if (typeof vectors === 'string') return vectors
    const counts = Array.isArray(predictions) ? predictions.map((prediction) => tokensIn(found(prediction))) : []
    const tokens = counts.reduce<number | undefined>(
      (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
      0,
    )
    return { vectors, ...usageOf(tokens) }
  },
}

/** The newer models of Vertex AI, which take one content at a time. */
export const vertexOne: VendorForm<Embed, Embedded> = {
  name: 'vertex-one',
  isOf: isVertex,
  most: () => 1,
  request(asked, context) {
    const [input = {}] = asked.inputs
    const { content, ...more } = googleInput(input, asked, context)
    const config: JsonObject = {
      ...more,
      ...(asked.dimensions !== undefined && { outputDimensionality: asked.dimensions }),
      ...cutting(asked, context),
    }
    return {
      path: pathOf(context.target, 'embedContent'),
      body: { content, ...(Object.keys(config).length > 0 && { embedContentConfig: config }) },
    }
  },
  answer({ embedding, usageMetadata }, asked) {
    const vectors = vectorsIn([embedding], asked, valuesIn)
    return typeof vectors === 'string' ? vectors : { vectors, ...usageIn(usageMetadata) }
  },
}

const pathOf = ({ model }: ProviderTarget, method: string) => `/models/${pathSegment(model)}:${method}`

/** How it is told what to do with texts that are too long. */
function cutting(asked: Embed, { warnings }: VendorContext): JsonObject {
  requireFloats(asked, warnings)
  requireTruncation(asked, { own: 'end', others: ['none'] }, warnings)
  if (asked.user !== undefined) warnings.noteDropped('user')
  return asked.truncation === undefined ? {} : { autoTruncate: asked.truncation === 'end' }
}

function tokensIn(embeddings: unknown): number | undefined {
  const statistics = isObject(embeddings) ? embeddings.statistics : undefined
  const count = isObject(statistics) ? statistics.token_count : undefined
  return typeof count === 'number' ? count : undefined
}
