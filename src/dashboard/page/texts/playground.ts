/* The texts of the playground. */

export const hint = 'A real request to a model. It is charged like any other.'
export const format = 'Format'
export const formats = {
  chat: 'OpenAI Chat',
  responses: 'OpenAI Responses',
  messages: 'Anthropic Messages',
  gemini: 'Gemini',
  embeddings: 'Embeddings',
  rerank: 'Rerank',
  search: 'Search',
  fetch: 'Web page',
  moderation: 'Moderation',
  images: 'Image',
  speech: 'Speech',
  transcription: 'Transcription',
} as const
export const model = 'Model, combo or alias'
export const as = 'Ask as'
export const operator = 'you, without a key'
export const body = 'Body'
export const bodyHint = 'JSON; the model is added.'
export const noObject = 'This is no JSON object.'
export const file = 'Sound to write down'
export const noFile = 'Choose a file first.'
export const image = 'The image'
export const sound = 'The sound'
export const ask = 'Ask'
export const stop = 'Stop'
export const code = 'As code'
export const copyCode = (name: string) => `Copy as ${name}`
export const waiting = 'Waiting for an answer …'
export const answering = 'Answering …'
export const ended = (time: string) => `Ended after ${time}.`
export const stopped = 'Stopped.'
export const said = 'What it says'
export const raw = 'As it was sent'
export const factStatus = 'Status'
export const factTarget = 'Answered by'
export const factAttempts = 'Attempts'
export const factWarnings = 'Lost in translation'
export const factCost = 'Cost'
export const factFirst = 'First word after'
export const factRequest = 'Request'
export const unknownCost = 'not known'
