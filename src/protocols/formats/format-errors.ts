/* All client formats' errors. They are loaded together. */
export { aiSdkErrors } from './ai-sdk/ai-sdk-errors.ts'
export { anthropicErrors } from './anthropic-messages/anthropic-errors.ts'
export { geminiErrors } from './gemini/gemini-errors.ts'
export { chatErrors } from './openai-chat/chat-errors.ts'
export { responseErrors } from './openai-responses/responses-errors.ts'
