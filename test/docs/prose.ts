import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { FRONTMATTER, readPages } from './pages.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A paragraph, table cell, or message that users read. */
export interface Passage {
  file: string
  text: string
}

/** Returns the prose of every page outside `test/`, without code blocks and comments. Inline code becomes `x`, and a link becomes its text. */
export function passagesOfPages(): Passage[] {
  const pages = readPages().filter(({ path }) => !path.startsWith('test/'))
  return pages.flatMap(({ path, text, frontmatter: { title, description } }) => {
    const head = title === undefined ? '' : `# ${title}\n\n${description}\n\n`
    const prose = (head + (head && text.replace(FRONTMATTER, '')) || text)
      .replace(/```[\s\S]*?```|<!--[\s\S]*?-->|<[a-z/][^>]*>/g, '')
      .replace(/(`+)[^`][\s\S]*?\1/g, 'x')
      .replace(/!?\[((?:[^[\]]|\[[^\]]*\])*)\](?:\([^)]*\)|\[[^\]]*\])?/g, '$1')
      .replace(/^\[?[\w ]+\]?: \S+$/gm, '')
      .replace(/\*\*|(?<!\w)_|_(?!\w)/g, '')
    const blocks = prose.split(/\n{2,}|\n(?=\s*(?:[-*|#]|\d+\.) ?)/)
    const cells = blocks.flatMap((block) => (block.trim().startsWith('|') ? block.split('|') : [block]))
    return cells.map((cell) => ({ file: path, text: clean(cell) })).filter(({ text }) => !/^(?:x[ ,]*)*$/.test(text)) // cells that contain only code
  })
}

/** Returns every string in the source that looks like a message: three words or more, or any text in the dashboard. */
export function passagesOfCode(): Passage[] {
  return filesBelow(['src', 'adapters']).flatMap((file) => {
    const isDashboard = file.startsWith('src/features/dashboard/page/')
    const source = ts.createSourceFile(file, readFileSync(root + file, 'utf8'), ts.ScriptTarget.Latest, false)
    const passages: Passage[] = []
    const visit = (node: ts.Node): void => {
      if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return
      for (const text of readText(node).split(NEXT_ITEM).map(clean)) {
        const words = text.match(/(?<=^|[\s"(])[A-Za-z][a-z']*(?=$|[\s.,:;")])/g) ?? []
        const isMessage = isDashboard
          ? /[a-z]{3}/.test(text) && !isApiValue.test(text)
          : words.length >= 3 && !isQuery.test(text)
        if (isMessage) passages.push({ file, text })
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
    return passages
  })
}

/** The end of a paragraph, of an item in a help text, or of a comment line. */
const NEXT_ITEM = /\n\s*\n|\n(?= {2,4}\S| ?[#*])/

/** API values that the dashboard compares or sends. Its labels start with a capital letter. */
const isApiValue = /^(?:refused?|outrun)$/

const isQuery = /^(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|WITH|PRAGMA|DROP|BEGIN|ON|WHERE|LISTEN|VALUES) /i

function readText(node: ts.Node): string {
  if (ts.isStringLiteralLike(node) || ts.isJsxText(node)) return node.text
  if (!ts.isTemplateExpression(node)) return ''
  return node.head.text + node.templateSpans.map(({ literal }) => `x${literal.text}`).join('')
}

const clean = (text: string) =>
  text
    .replace(/^\s*(?:[-*#>]+|\d+\.)\s/, '')
    .replace(/\s+/g, ' ')
    .trim()

function filesBelow(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow([path])
      return /\.tsx?$/.test(path) && !/\.data\.ts$|\.d\.ts$/.test(path) ? [path] : []
    }),
  )
}
