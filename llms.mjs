/* Writes the package's llms.txt, which lists its pages for language models (https://llmstxt.org). Runs whenever the package is packed. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { heading, listPages } from './docs/llms.mjs'
import { PAGES } from './docs/pages.mjs'

const root = fileURLToPath(new URL('.', import.meta.url))

/** The sections for pages outside the site, which are in the package's `files`. */
const SECTIONS = {
  'Start here': ['README.md', 'examples/README.md'],
  Examples: () => below('examples'),
  Optional: ['CHANGELOG.md', 'SECURITY.md', 'NOTICES.md'],
}

function below(folder) {
  const found = readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return /^(?:node_modules|data|\..*)$/.test(entry.name) ? [] : below(path)
    return entry.name.endsWith('.md') ? [path] : []
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

const listed = new Set()
const sections = Object.entries(SECTIONS).map(([title, pages]) => {
  const paths = (typeof pages === 'function' ? pages() : pages.filter((path) => existsSync(join(root, path)))).filter(
    (path) => !listed.has(path),
  )
  for (const path of paths) listed.add(path)
  return `## ${title}\n\n${paths.map(line).join('\n')}\n`
})
const paths =
  'The paths are relative to this file. Types are in `dist/*.d.ts`, and a running gateway describes its HTTP API at `/api/openapi.json`.\n'
writeFileSync(join(root, 'llms.txt'), [heading, paths, ...listPages((name) => PAGES + name), ...sections].join('\n'))
