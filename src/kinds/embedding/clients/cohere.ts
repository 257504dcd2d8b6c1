import { isObject } from '../../../lib/json.ts'
import type { ClientForm } from '../../forms.ts'
import { type Embed, type Embedded, type Input, taskMeant } from '../embedding.ts'
import { asBase64, asFloats } from '../vectors.ts'
import { partsIn, truncationMeant } from './openai.ts'

/** The form of Cohere's clients: https://docs.cohere.com/reference/embed */
export const cohere: ClientForm<Embed, Embedded> = {
  fieldNames: {
    task: 'input_type',
    dimensions: 'output_dimension',
    truncation: 'truncate',
    types: 'embedding_types',
  },
  read(body, { warnings }) {
    const { texts, images, inputs, embedding_types: types, output_dimension: dimensions, truncate } = body
    const name = ['texts', 'images', 'inputs'].find((one) => body[one] !== undefined) ?? 'texts'
    warnings.useName('inputs', name)
    const read = listOf(texts, textIn) ?? listOf(images, imageIn) ?? listOf(inputs, inputIn)
    if (!read) return warnings.refuse('inputs', 'it must be a list that is not empty')
    const asked: Embed = { inputs: read, encoding: 'float' }
    const task = taskMeant(body.input_type)
    if (task) asked.task = task
    else if (typeof body.input_type === 'string' && body.input_type !== 'image') asked.otherTask = body.input_type
    if (types !== undefined) {
      if (!isTexts(types)) return warnings.refuse('types', 'it must be a list of types')
      asked.types = types
      if (types.every((type) => type === 'base64')) asked.encoding = 'base64'
    }
    if (dimensions !== undefined) {
      if (typeof dimensions !== 'number') return warnings.refuse('dimensions', 'it must be a whole number')
      asked.dimensions = dimensions
    }
    if (truncate !== undefined)
      asked.truncation =
        truncationMeant(truncate) ?? warnings.refuse('truncation', 'it must be "NONE", "START" or "END"')
    return asked
  },
  write({ vectors, byType, usage, id }, { asked, newId }) {
    const { types = ['float'], inputs } = asked
    const written = types.map((type) => [type, listFor(type, vectors) ?? byType?.[type] ?? []])
    const texts = inputs.flatMap(({ text }) => text ?? [])
    return {
      id: id ?? newId(),
      embeddings: Object.fromEntries(written),
      texts,
      meta: {
        api_version: { version: '2' },
        billed_units: { input_tokens: usage?.inputTokens ?? 0 }, // some clients read no answer without a number
      },
      response_type: 'embeddings_by_type',
    }
  },
}

function listFor(type: string, vectors: Embedded['vectors']): unknown[] | undefined {
  if (type === 'float') return vectors.map(asFloats)
  return type === 'base64' ? vectors.map(asBase64) : undefined
}

function listOf(list: unknown, read: (item: unknown) => Input | undefined): Input[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  const inputs = list.map(read)
  return inputs.every((input) => input !== undefined) ? inputs : undefined
}

const textIn = (text: unknown): Input | undefined => (typeof text === 'string' ? { text } : undefined)
const imageIn = (image: unknown): Input | undefined => (typeof image === 'string' ? { parts: [{ image }] } : undefined)
const inputIn = (input: unknown): Input | undefined =>
  isObject(input) && Array.isArray(input.content) ? partsIn(input.content) : undefined

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')
