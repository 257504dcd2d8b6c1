/*
 * Writes llms.txt, the list of the documentation for programs that read (https://llmstxt.org): made anew whenever the package is packed. The pages
 * are those that the package has.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('.', import.meta.url))

/** The sections, and the pages of each: as `files` in package.json names them. */
const SECTIONS = {
  'Start here': [
    'README.md',
    'src/cli/README.md',
    'src/OPTIONS.md',
    'src/SIZES.md',
    'examples/README.md',
    'src/admin/README.md',
  ],
  Reference: () => [...below('src'), ...below('adapters')],
  Examples: () => below('examples'),
  Optional: ['CHANGELOG.md', 'SECURITY.md', 'NOTICES.md'],
}
/** In the repository only. */
const NOT_PACKED = /^src\/[^/]+\.md$/

function below(folder) {
  const found = readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return /^(?:node_modules|data|\..*)$/.test(entry.name) ? [] : below(path)
    return entry.name.endsWith('.md') && !NOT_PACKED.test(path) ? [path] : []
  })
  return found.sort()
}

/** The first heading, and the first sentence below it without its links. */
function line(path) {
  const text = readFileSync(join(root, path), 'utf8')
  const title = /^# (.+)$/m.exec(text)?.[1] ?? path
  const paragraph = text
    .slice(text.indexOf('# '))
    .split(/\n{2,}/)
    .slice(1)
    .find((part) => /^(?!```)[\w`*[]/.test(part))
  const prose = (paragraph ?? '').replace(/\[([^\]]+)\](?:\([^)]*\)|\[[^\]]*\])?/g, '$1').replace(/\s+/g, ' ')
  const [sentence = ''] = /^.*?[.:](?= |$)/.exec(prose) ?? [prose]
  return `- [${title.replaceAll('`', '')}](${path}): ${sentence.replace(/:$/, '.')}`
}

const { description, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const listed = new Set()
const sections = Object.entries(SECTIONS).map(([title, pages]) => {
  const paths = (typeof pages === 'function' ? pages() : pages).filter((path) => !listed.has(path))
  for (const path of paths) listed.add(path)
  return `## ${title}\n\n${paths.map(line).join('\n')}\n`
})
const head = `# Signalbox ${version}\n\n> ${description}\n\nThe addresses are relative to this file. Types: \`dist/*.d.ts\`; a gateway that runs describes its HTTP at \`/api/openapi.json\`.\n`
writeFileSync(join(root, 'llms.txt'), [head, ...sections].join('\n'))
