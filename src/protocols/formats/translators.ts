/* The translators for all formats that have both clients and providers. They are loaded together. */
export { anthropicTranslator } from './anthropic-messages/anthropic-translator.ts'
export { geminiTranslator } from './gemini/gemini-translator.ts'
export { chatTranslator } from './openai-chat/chat-translator.ts'
export { responsesTranslator } from './openai-responses/responses-translator.ts'

/** Loads the translator for the AI SDK's protocol. Its requests also need one of the other translators. */
export const loadAiSdkTranslator = async () => (await import('./ai-sdk/ai-sdk-translator.ts')).aiSdkTranslator
