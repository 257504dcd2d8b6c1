import { isObject } from '../../../../src/lib/json.ts'

/** Returns the rules that a request breaks, for which Converse would reject it. Checks the rules from the API reference that affect translation. */
export function brokenRules(body: unknown): string[] {
  if (!isObject(body) || !Array.isArray(body.messages)) return ['there are no messages']
  const problems: string[] = []
  const names = new Set<string>()
  let role: unknown = 'assistant'
  let open: string[] = [] // calls without a result so far
  for (const [index, message] of body.messages.entries()) {
    const report = (problem: string) => problems.push(`messages[${index}] ${problem}`)
    if (message.role === role) report(`follows another of the role ${role}`)
    role = message.role
    if (!Array.isArray(message.content) || message.content.length === 0) {
      report('has no content')
      continue
    }
    const results: string[] = []
    for (const block of message.content) {
      const kinds = Object.keys(block)
      if (kinds.length !== 1) report(`has a block of ${kinds.join(' and ')}`)
      for (const problem of blockProblems(block, names)) report(problem)
      if (block.toolResult) results.push(block.toolResult.toolUseId)
    }
    if (role === 'user' && String(results) !== String(open)) report(`answers ${results} where ${open} were called`)
    open = message.content.flatMap(({ toolUse }: { toolUse?: { toolUseId: string } }) => toolUse?.toolUseId ?? [])
    const isTold = message.content.some((block: object) => 'text' in block || 'toolResult' in block)
    if (message.content.some((block: object) => 'document' in block) && !isTold) report('has a document without words')
  }
  if (/"toolUse"/.test(JSON.stringify(body.messages)) && !body.toolConfig)
    problems.push('there are calls without tools')
  return [...problems, ...toolProblems(body.toolConfig)]
}

/** The fields of a block that the rules check. */
interface Block {
  text?: string
  image?: { format: string; source: { bytes: string } }
  video?: { source: { bytes: string } }
  document?: { format: string; name: string }
  toolUse?: { toolUseId: string; name: string; input: unknown }
  toolResult?: { toolUseId: string; content: Block[] }
  reasoningContent?: { reasoningText?: { signature?: string } }
}

function* blockProblems(block: Block, names: Set<string>): Generator<string> {
  const { text, image, document, video, toolUse, toolResult, reasoningContent } = block
  if (text !== undefined && text.trim() === '') yield 'has a blank text'
  if (image && !['png', 'jpeg', 'gif', 'webp'].includes(image.format)) yield `has an image of ${image.format}`
  for (const medium of [image, video]) if (medium && !BASE64.test(medium.source.bytes)) yield 'has no bytes'
  if (document) {
    if (!/^(?:pdf|csv|docx?|xlsx?|html|txt|md)$/.test(document.format)) yield `has a document of ${document.format}`
    if (!/^(?!.*\s\s)[A-Za-z0-9\s()[\]-]{1,200}$/.test(document.name)) yield `calls a document ${document.name}`
    if (names.has(document.name)) yield `calls two documents ${document.name}`
    names.add(document.name)
  }
  if (toolUse && !(ID.test(toolUse.toolUseId) && ID.test(toolUse.name) && isObject(toolUse.input)))
    yield 'has a malformed call'
  if (toolResult && !(ID.test(toolResult.toolUseId) && toolResult.content.length > 0)) yield 'has a malformed result'
  for (const inner of toolResult?.content ?? []) yield* blockProblems(inner, names)
  if (reasoningContent?.reasoningText && !reasoningContent.reasoningText.signature) yield 'has an unsigned thought'
}

function toolProblems(config: unknown): string[] {
  if (config === undefined) return []
  if (!isObject(config) || !Array.isArray(config.tools) || config.tools.length === 0) return ['there are no tools']
  return config.tools.flatMap(({ toolSpec, cachePoint }) => {
    if (cachePoint) return []
    const isGood = ID.test(toolSpec.name) && toolSpec.description !== '' && toolSpec.inputSchema.json.type === 'object'
    return isGood ? [] : [`the tool ${toolSpec.name} is malformed`]
  })
}

const ID = /^[A-Za-z0-9_-]{1,64}$/
const BASE64 = /^[A-Za-z0-9+/]+=*$/
