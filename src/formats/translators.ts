/* The translators of all formats that both clients and providers speak, which are loaded together. */
export { messagesTranslator } from './anthropic-messages/translator.ts'
export { geminiTranslator } from './gemini/translator.ts'
export { chatTranslator } from './openai-chat/translator.ts'
export { responsesTranslator } from './openai-responses/translator.ts'

/** That of the AI SDK's protocol, whose requests need one of the others as well. */
export const loadAiSdkTranslator = async () => (await import('./ai-sdk/translator.ts')).aiSdkTranslator
