import type { JsonObject } from '../../../src/lib/json.ts'
import { type Field, PDF, PNG, schema } from './field.ts'

const user = (...parts: JsonObject[]) => ({ role: 'user', parts })
const model = (...parts: JsonObject[]) => ({ role: 'model', parts })
const hi = { text: 'Hi' }
const createRequest = (...parts: JsonObject[]) => ({ contents: [user(hi, ...parts)] })
const createMessage = (...parts: JsonObject[]) => ({
  contents: [user(hi), model({ text: 'Once' }, ...parts), user(hi)],
})
const createToolLoop = (call: JsonObject, response: JsonObject = {}, beside: JsonObject = {}) => ({
  contents: [
    user(hi),
    model({ functionCall: { name: 'f', args: {}, ...call }, ...beside }),
    user({ functionResponse: { name: 'f', response: { output: 'ok' }, ...response } }),
  ],
})
const tool = (extra: JsonObject = {}) => ({
  tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: schema, ...extra }] }],
})
const search = (extra: JsonObject = {}) => ({ tools: [{ googleSearch: extra }] })
const createToolConfig = (extra: JsonObject) => ({ ...tool(), toolConfig: { functionCallingConfig: extra } })
const config = (extra: JsonObject) => ({ generationConfig: extra })
const png = (extra: JsonObject = {}) => ({ inlineData: { mimeType: 'image/png', data: PNG, ...extra } })
const pdf = (extra: JsonObject = {}) => ({ inlineData: { mimeType: 'application/pdf', data: PDF, ...extra } })
const film = { fileData: { mimeType: 'video/mp4', fileUri: 'https://a.test/b.mp4' } }

const configs: JsonObject = {
  audioTimestamp: true,
  candidateCount: 2,
  enableEnhancedCivicAnswers: true,
  frequencyPenalty: 0.321,
  imageConfig: { aspectRatio: '1:1' },
  maxOutputTokens: 4321,
  modelSelectionConfig: { featureSelectionPreference: 'BALANCED' },
  novelty: 1,
  presencePenalty: 0.321,
  responseLogprobs: true,
  responseMimeType: 'application/json',
  responseModalities: ['TEXT', 'IMAGE'],
  routingConfig: { autoMode: {} },
  seed: 4321,
  speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
  stopSequences: ['END'],
  temperature: 0.321,
  topK: 43,
  topP: 0.321,
}

/** All fields of a generateContent request. */
export const fields: readonly Field[] = [
  ...Object.entries(configs).map(([name, value]): Field => [`generationConfig.${name}`, config({ [name]: value })]),
  ['generationConfig.responseLogprobs', config({ responseLogprobs: true, logprobs: 3 })],
  [
    'generationConfig.mediaResolution',
    { ...createRequest(png()), ...config({ mediaResolution: 'MEDIA_RESOLUTION_HIGH' }) },
    createRequest(png()),
  ],
  [
    'generationConfig.mediaResolution',
    { ...createRequest(png()), ...config({ mediaResolution: 'MEDIA_RESOLUTION_MEDIUM' }) },
    createRequest(png()),
  ],
  [
    'generationConfig.mediaResolution',
    { ...createRequest(pdf()), ...config({ mediaResolution: 'MEDIA_RESOLUTION_LOW' }) },
    createRequest(pdf()),
  ],
  [
    'generationConfig.responseJsonSchema',
    config({ responseMimeType: 'application/json', responseJsonSchema: schema }),
    config({ responseMimeType: 'application/json' }),
  ],
  [
    'generationConfig.responseSchema',
    config({ responseMimeType: 'application/json', responseSchema: { type: 'OBJECT' } }),
    config({ responseMimeType: 'application/json' }),
  ],
  ['generationConfig.thinkingConfig.thinkingBudget', config({ thinkingConfig: { thinkingBudget: 2_000 } })],
  ['generationConfig.thinkingConfig.thinkingLevel', config({ thinkingConfig: { thinkingLevel: 'HIGH' } })],
  [
    'generationConfig.thinkingConfig.includeThoughts',
    config({ thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true } }),
    config({ thinkingConfig: { thinkingLevel: 'HIGH' } }),
  ],
  ['generationConfig.thinkingConfig.novelty', config({ thinkingConfig: { novelty: 1 } })],
  ['generation_config.top_k', { generation_config: { top_k: 43 } }],
  ['generation_config.candidate_count', { generation_config: { candidate_count: 2 } }],
  ['systemInstruction', { systemInstruction: { parts: [{ text: 'Be brief' }] } }],
  ['cachedContent', { cachedContent: 'cachedContents/1' }],
  ['labels', { labels: { team: 'blue' } }],
  ['safetySettings', { safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] }],
  ['serviceTier', { serviceTier: 'flex' }],
  ['store', { store: true }],
  ['novelty', { novelty: 1 }],
  ['tools', tool()],
  ['tools[0].functionDeclarations[0].description', tool({ description: 'Does' }), tool()],
  ['tools[0].functionDeclarations[0].responseJsonSchema', tool({ responseJsonSchema: schema }), tool()],
  ['tools[0].functionDeclarations[0].behavior', tool({ behavior: 'NON_BLOCKING' }), tool()],
  ['tools', search()],
  ['tools[0].googleSearch.excludeDomains', search({ excludeDomains: ['a.test'] }), search()],
  ['tools[0].googleSearch.timeRangeFilter', search({ timeRangeFilter: { startTime: '2024-01-01' } }), search()],
  ['tools[0].codeExecution', { tools: [{ codeExecution: {} }] }],
  ['tools[0].urlContext', { tools: [{ urlContext: {} }] }],
  ['toolConfig.functionCallingConfig', createToolConfig({ mode: 'ANY' }), tool()],
  ['toolConfig.functionCallingConfig', createToolConfig({ mode: 'NONE' }), tool()],
  ['toolConfig.functionCallingConfig', createToolConfig({ mode: 'ANY', allowedFunctionNames: ['f'] }), tool()],
  ['toolConfig.retrievalConfig', { toolConfig: { retrievalConfig: { languageCode: 'de' } } }],
  ['contents[0].parts[1]', createRequest(png()), createRequest()],
  [
    'contents[0].parts[1].mediaResolution',
    createRequest({ ...png(), mediaResolution: { level: 'MEDIA_RESOLUTION_HIGH' } }),
    createRequest(png()),
  ],
  [
    'contents[0].parts[1].mediaResolution',
    createRequest({ ...pdf(), mediaResolution: { level: 'MEDIA_RESOLUTION_HIGH' } }),
    createRequest(pdf()),
  ],
  ['contents[0].parts[1]', createRequest(pdf()), createRequest()],
  ['contents[0].parts[1].inlineData.displayName', createRequest(pdf({ displayName: 'a.pdf' })), createRequest(pdf())],
  ['contents[0].parts[1].inlineData.displayName', createRequest(png({ displayName: 'a.png' })), createRequest(png())],
  [
    'contents[0].parts[1]',
    createRequest({ inlineData: { mimeType: 'text/plain', data: 'V2VsbA==' } }),
    createRequest(),
  ],
  ['contents[0].parts[1]', createRequest({ inlineData: { mimeType: 'audio/wav', data: 'AAAA' } }), createRequest()],
  [
    'contents[0].parts[1]',
    createRequest({ fileData: { mimeType: 'image/png', fileUri: 'https://a.test/b.png' } }),
    createRequest(),
  ],
  [
    'contents[0].parts[1]',
    createRequest({ fileData: { mimeType: 'application/pdf', fileUri: 'gs://a/b.pdf' } }),
    createRequest(),
  ],
  ['contents[0].parts[1]', createRequest(film), createRequest()],
  ['contents[0].parts[1].videoMetadata', createRequest({ ...film, videoMetadata: { fps: 2 } }), createRequest(film)],
  ['contents[0].parts[1].videoMetadata', createRequest({ ...png(), videoMetadata: { fps: 2 } }), createRequest(png())],
  ['contents[0].parts[1].partMetadata', createRequest({ ...png(), partMetadata: { a: 1 } }), createRequest(png())],
  ['contents[0].parts[1]', createRequest({ novelty: 1 }), createRequest()],
  ['contents[0].novelty', { contents: [{ ...user(hi), novelty: 1 }] }],
  ['contents[1].parts[1]', createMessage({ executableCode: { language: 'PYTHON', code: '1' } }), createMessage()],
  [
    'contents[1].parts[1]',
    createMessage({ codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } }),
    createMessage(),
  ],
  ['contents[1].parts[1]', createMessage({ toolCall: { toolType: 'GOOGLE_SEARCH' } }), createMessage()],
  ['contents[1].parts[1]', createMessage(png()), createMessage()],
  ['contents[1].parts[0].functionCall', createToolLoop({ args: { a: 1 } }), createToolLoop({})],
  ['contents[1].parts[0].functionCall.novelty', createToolLoop({ novelty: 1 }), createToolLoop({})],
  [
    'contents[2].parts[0].functionResponse.response',
    createToolLoop({}, { response: { error: 'no' } }),
    createToolLoop({}),
  ],
  ['contents[2].parts[0].functionResponse.parts[0]', createToolLoop({}, { parts: [png()] }), createToolLoop({})],
  [
    'contents[2].parts[0].functionResponse.willContinue',
    createToolLoop({}, { willContinue: true }),
    createToolLoop({}),
  ],
  [
    'contents[2].parts[0].functionResponse.scheduling',
    createToolLoop({}, { scheduling: 'SILENT' }),
    createToolLoop({}),
  ],
]
