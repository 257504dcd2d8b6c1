import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { ClientForm } from '../../forms.ts'
import { type Embed, type Embedded, type Input, type InputPart, type Truncation, taskMeant } from '../embedding.ts'
import { asBase64, asFloats } from '../vectors.ts'

/**
 * OpenAI's form, with what servers that speak it have besides: `output_dimension` and `truncation` of Voyage, `truncate` of NVIDIA, `task` of
 * Jina, `input_type`, and inputs of several parts as at OpenRouter. Its clients ask for base64 where their users say nothing.
 */
export const openai: ClientForm<Embed, Embedded> = {
  fieldNames: { inputs: 'input', encoding: 'encoding_format', task: 'input_type', truncation: 'truncate' },
  read(body, { warnings }) {
    const inputs = inputsIn(body.input)
    if (!inputs) return warnings.refuse('inputs', 'it must be a text, tokens, or a list of either that is not empty')
    const given = (field: string, names: readonly string[]) => {
      const name = names.find((one) => (body[one] ?? null) !== null)
      if (name !== undefined) warnings.useName(field, name)
      return name === undefined ? undefined : body[name]
    }
    const asked: Embed = { inputs, encoding: encodingIn(body) }
    const width = given('dimensions', ['dimensions', 'output_dimension'])
    if (width !== undefined) {
      if (typeof width !== 'number' || !Number.isInteger(width) || width < 1)
        return warnings.refuse('dimensions', 'it must be a whole number above 0')
      asked.dimensions = width
    }
    const word = given('task', ['input_type', 'task'])
    const task = taskMeant(word)
    if (task) asked.task = task
    else if (word !== undefined) asked.otherTask = String(word)
    const cut = given('truncation', ['truncate', 'truncation'])
    if (cut !== undefined)
      asked.truncation =
        truncationMeant(cut) ?? warnings.refuse('truncation', 'it must be "NONE", "START", "END", true or false')
    if (typeof body.user === 'string') asked.user = body.user
    return asked
  },
  write: ({ vectors, usage, id }, { asked, model }) => ({
    object: 'list',
    ...(id !== undefined && { id }),
    data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: inEncoding(vector, asked) })),
    model,
    ...(usage && { usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.inputTokens } }),
  }),
}

/** A vector as the client reads it. */
export const inEncoding = (vector: Embedded['vectors'][number], { encoding }: Embed) => {
  if (encoding === 'raw') return vector
  return encoding === 'base64' ? asBase64(vector) : asFloats(vector)
}

/** How the client reads numbers; other types than floats are packed in ways of their own. */
function encodingIn({
  encoding_format: format,
  output_dtype: type,
  embedding_type: other,
}: JsonObject): Embed['encoding'] {
  if ((type ?? 'float') !== 'float') return 'raw'
  const asked = format ?? other ?? 'float'
  return asked === 'float' || asked === 'base64' ? asked : 'raw'
}

function inputsIn(input: unknown): Input[] | undefined {
  const list = Array.isArray(input) && !isTokens(input) ? input : [input]
  const inputs = list.map(inputIn)
  return inputs.length > 0 && inputs.every((one) => one !== undefined) ? inputs : undefined
}

function inputIn(value: unknown): Input | undefined {
  if (typeof value === 'string') return { text: value }
  if (isTokens(value)) return { tokens: value }
  if (!isObject(value)) return undefined
  const { text, image, content } = value
  if (Array.isArray(content)) return partsIn(content)
  if (typeof text === 'string') return { parts: [{ text }] }
  return typeof image === 'string' ? { parts: [{ image }] } : undefined
}

const isTokens = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number')

/** The parts of an input as OpenRouter and Cohere write them. */
export function partsIn(content: readonly unknown[]): Input | undefined {
  const parts = content.map(partIn)
  return parts.length > 0 && parts.every((part) => part !== undefined) ? { parts } : undefined
}

function partIn(part: unknown): InputPart | undefined {
  if (!isObject(part)) return undefined
  const { type, text, image_url: image } = part
  if (type === 'text' && typeof text === 'string') return { text }
  const url = isObject(image) ? image.url : image
  return type === 'image_url' && typeof url === 'string' ? { image: url } : undefined
}

/** A truncation in the words of NVIDIA and Cohere, or as Voyage and Jina have it: at the end, or none. */
export function truncationMeant(value: unknown): Truncation | undefined {
  if (typeof value === 'boolean') return value ? 'end' : 'none'
  const word = typeof value === 'string' ? value.toLowerCase() : undefined
  return word === 'none' || word === 'start' || word === 'end' ? word : undefined
}
