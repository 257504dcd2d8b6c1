import { type Content, FunctionCallingConfigMode, type Tool, type ToolConfig } from '@google/genai'
import * as v from 'valibot'
import { count, createValidator, json, listBroken, nonEmptyArray, numberBetween, words } from './validator.ts'

/*
 * Validates a request to the Gemini API, and rejects unknown fields as Google does. Sources: the types of Google's client, the requests it sends, the
 * API reference, and https://ai.google.dev/api/generate-content.
 */

const maybe = v.exactOptional
const base64 = v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/_-]*={0,2}$/))
const mimeType = v.pipe(v.string(), v.regex(/^[a-z]+\/[\w.+-]+/))
const name = v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/))

const inlineData = v.strictObject({ mimeType, data: base64 })
const fileData = v.strictObject({ mimeType: maybe(mimeType), fileUri: words })
const thoughtSignature = maybe(base64)
const text = v.strictObject({ text: v.string(), thought: maybe(v.boolean()), thoughtSignature })
const videoMetadata = maybe(
  v.strictObject({ fps: maybe(numberBetween(0, 24)), startOffset: maybe(words), endOffset: maybe(words) }),
)
const media = v.union([
  v.strictObject({ inlineData, videoMetadata, thoughtSignature }),
  v.strictObject({ fileData, videoMetadata, thoughtSignature }),
])
const call = v.strictObject({
  functionCall: v.strictObject({ id: maybe(v.string()), name, args: maybe(json) }),
  thoughtSignature,
})
const result = v.strictObject({
  functionResponse: v.strictObject({
    id: maybe(v.string()),
    name,
    response: json,
    parts: maybe(nonEmptyArray(v.union([v.strictObject({ inlineData }), v.strictObject({ fileData })]))),
  }),
})
const content = v.variant('role', [
  v.strictObject({ role: v.literal('user'), parts: nonEmptyArray(v.union([text, media, result])) }),
  v.strictObject({ role: v.literal('model'), parts: nonEmptyArray(v.union([text, media, call])) }),
])

const declaration = v.strictObject({
  name,
  description: maybe(v.string()),
  parametersJsonSchema: maybe(json),
  responseJsonSchema: maybe(json),
})
const tool = v.union([
  v.strictObject({ functionDeclarations: nonEmptyArray(declaration) }),
  v.strictObject({ googleSearch: v.strictObject({ excludeDomains: maybe(nonEmptyArray(v.string())) }) }),
])
const toolConfig = v.strictObject({
  functionCallingConfig: maybe(
    v.strictObject({
      mode: v.enum(FunctionCallingConfigMode),
      allowedFunctionNames: maybe(nonEmptyArray(name)),
    }),
  ),
  includeServerSideToolInvocations: maybe(v.literal(true)),
})

const generationConfig = v.strictObject({
  candidateCount: maybe(numberBetween(1, 8)),
  maxOutputTokens: maybe(v.pipe(count, v.minValue(1))),
  temperature: maybe(numberBetween(0, 2)),
  topP: maybe(numberBetween(0, 1)),
  topK: maybe(count),
  frequencyPenalty: maybe(numberBetween(-2, 2)),
  presencePenalty: maybe(numberBetween(-2, 2)),
  seed: maybe(v.pipe(v.number(), v.integer(), v.minValue(-(2 ** 31)), v.maxValue(2 ** 31 - 1))),
  stopSequences: maybe(v.pipe(v.array(words), v.maxLength(5))),
  responseLogprobs: maybe(v.boolean()),
  logprobs: maybe(numberBetween(0, 20)),
  responseModalities: maybe(nonEmptyArray(v.picklist(['TEXT', 'IMAGE', 'AUDIO']))),
  speechConfig: maybe(
    v.strictObject({
      voiceConfig: v.strictObject({ prebuiltVoiceConfig: v.strictObject({ voiceName: words }) }),
    }),
  ),
  mediaResolution: maybe(v.picklist(['MEDIA_RESOLUTION_LOW', 'MEDIA_RESOLUTION_MEDIUM', 'MEDIA_RESOLUTION_HIGH'])),
  thinkingConfig: maybe(
    v.strictObject({
      includeThoughts: maybe(v.boolean()),
      thinkingBudget: maybe(numberBetween(-1, 32_768)),
      thinkingLevel: maybe(v.picklist(['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'])),
    }),
  ),
  responseMimeType: maybe(v.picklist(['text/plain', 'application/json', 'text/x.enum'])),
  responseJsonSchema: maybe(json),
})

const request = v.strictObject({
  contents: nonEmptyArray(content),
  systemInstruction: maybe(v.strictObject({ parts: nonEmptyArray(v.strictObject({ text: words })) })),
  tools: maybe(nonEmptyArray(tool)),
  toolConfig: maybe(toolConfig),
  generationConfig: maybe(generationConfig),
  serviceTier: maybe(v.picklist(['standard', 'flex', 'priority'])),
  store: maybe(v.boolean()),
})

type Request = v.InferOutput<typeof request>

/** Compiles only if Google's client accepts everything that is valid here. */
export const toClientType = ({
  contents,
  tools = [],
  toolConfig,
}: Request): [Content[], Tool[], ToolConfig | undefined] => [contents, tools, toolConfig]

export const geminiProblems = createValidator(request, (body) => {
  const { tools = [], toolConfig: config, generationConfig: { thinkingConfig: thinking, ...options } = {} } = body
  const names = tools.flatMap((each) =>
    'functionDeclarations' in each ? each.functionDeclarations.map((declared) => declared.name) : [],
  )
  const { mode, allowedFunctionNames: allowed = [] } = config?.functionCallingConfig ?? {}
  return [
    ...listBroken({
      'functions must be declared once': new Set(names).size === names.length,
      'only declared functions are allowed': allowed.every((each) => names.includes(each)),
      'only a mode that forces calls restricts functions':
        allowed.length === 0 || mode === 'ANY' || mode === 'VALIDATED',
      'a calling mode requires functions': mode === undefined || names.length > 0,
      'a search next to functions is reported, and calls match their schemas':
        tools.length < 2 || (config?.includeServerSideToolInvocations === true && mode !== 'AUTO'),
      'thinking is set either by budget or by level':
        thinking?.thinkingBudget === undefined || thinking.thinkingLevel === undefined,
      'a schema requires its media type':
        !options.responseJsonSchema || options.responseMimeType === 'application/json',
      'logprobs requires responseLogprobs': options.logprobs === undefined || options.responseLogprobs === true,
      'the first turn must be from the user': body.contents[0]?.role === 'user',
    }),
    ...unpaired(body.contents),
  ]
})

/**
 * Checks that turns alternate, and that each turn with calls is followed by a turn with the same number of results, under the same names. No other
 * turn may have results.
 */
function unpaired(contents: Request['contents']): string[] {
  const problems: string[] = []
  let open: string[] = []
  for (const [index, { role, parts }] of contents.entries()) {
    if (contents[index - 1]?.role === role) problems.push(`contents.${index}: ${role} twice`)
    const results = parts.flatMap((part) => ('functionResponse' in part ? [nameAndId(part.functionResponse)] : []))
    if (results.toSorted().join() !== open.toSorted().join())
      problems.push(`contents.${index}: results of ${results} for calls of ${open}`)
    open = parts.flatMap((part) => ('functionCall' in part ? [nameAndId(part.functionCall)] : []))
  }
  return open.length > 0 ? [...problems, `calls have no result: ${open}`] : problems
}

const nameAndId = (value: { name: string; id?: string }) => `${value.name}/${value.id ?? ''}`
