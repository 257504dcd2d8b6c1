import type { JsonObject } from '../../../lib/json.ts'

/* Types of the JSON that the gateway writes in this format. A test compares them with the types of Google's own client. */

export type WireBlob = { mimeType: string; data: string }
export type WireFileData = { mimeType: string; fileUri: string }
type WireVideoMetadata = { fps?: number; startOffset?: string; endOffset?: string }

type WireFunctionCall = { id?: string; name: string; args: JsonObject }
export type WireFunctionResponse = {
  id?: string
  name: string
  response: JsonObject
  parts?: ({ inlineData: WireBlob } | { fileData: WireFileData })[]
}

export type WirePart = {
  text?: string
  thought?: boolean
  thoughtSignature?: string
  functionCall?: WireFunctionCall
  functionResponse?: WireFunctionResponse
  inlineData?: WireBlob
  fileData?: WireFileData
  videoMetadata?: WireVideoMetadata
}

export type WireContent = { role: 'user' | 'model'; parts: WirePart[] }

export type WireDeclaration = {
  name: string
  description?: string
  parameters?: JsonObject
  parametersJsonSchema?: JsonObject
  response?: JsonObject
  responseJsonSchema?: JsonObject
}

export type WireTool = { functionDeclarations: WireDeclaration[] } | { googleSearch: { excludeDomains?: string[] } }

export type WireCallingConfig = { mode: 'AUTO' | 'ANY' | 'NONE' | 'VALIDATED'; allowedFunctionNames?: string[] }
export type WireToolConfig = { functionCallingConfig?: WireCallingConfig; includeServerSideToolInvocations?: true }

export type WireThinking = { includeThoughts?: boolean; thinkingBudget?: number; thinkingLevel?: WireLevel }
export type WireLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH'

export type WireConfig = {
  candidateCount?: number
  maxOutputTokens?: number
  temperature?: number
  topP?: number
  topK?: number
  frequencyPenalty?: number
  presencePenalty?: number
  seed?: number
  stopSequences?: string[]
  responseLogprobs?: boolean
  logprobs?: number
  responseModalities?: ('TEXT' | 'IMAGE' | 'AUDIO')[]
  speechConfig?: { voiceConfig: { prebuiltVoiceConfig: { voiceName: string } } }
  mediaResolution?: WireResolution
  thinkingConfig?: WireThinking
  responseMimeType?: string
  responseSchema?: JsonObject
  responseJsonSchema?: JsonObject
}

export type WireResolution = 'MEDIA_RESOLUTION_LOW' | 'MEDIA_RESOLUTION_HIGH'

export type WireRequest = {
  contents: WireContent[]
  systemInstruction?: { parts: WirePart[] }
  tools?: WireTool[]
  toolConfig?: WireToolConfig
  generationConfig?: WireConfig
  labels?: Record<string, string>
  serviceTier?: 'standard' | 'flex' | 'priority'
  store?: boolean
}

export type WireFinish = 'STOP' | 'MAX_TOKENS' | 'SAFETY' | 'CONTINUATION' | 'MALFORMED_FUNCTION_CALL'

export type WireUsage = {
  promptTokenCount: number
  cachedContentTokenCount?: number
  candidatesTokenCount: number
  thoughtsTokenCount?: number
  totalTokenCount: number
}

type WireToken = { token: string; logProbability: number }
export type WireLogprobs = { chosenCandidates: WireToken[]; topCandidates?: { candidates: WireToken[] }[] }

export type WireSource = { uri?: string; title?: string; text?: string }
export type WireSupport = {
  segment?: { partIndex?: number; startIndex?: number; endIndex?: number; text?: string }
  groundingChunkIndices: number[]
}
export type WireChunk = { web?: WireSource; retrievedContext?: WireSource }
export type WireGrounding = {
  groundingChunks?: WireChunk[]
  groundingSupports?: WireSupport[]
  webSearchQueries?: string[]
}

export type WireCandidate = {
  content: WireContent
  finishReason?: WireFinish
  finishMessage?: string
  index: number
  groundingMetadata?: WireGrounding
  logprobsResult?: WireLogprobs
}

export type WireResponse = {
  candidates: WireCandidate[]
  usageMetadata?: WireUsage
  modelVersion: string
  responseId: string
}
