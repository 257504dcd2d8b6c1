import { posix } from 'node:path'

/** The documents that comments may cite. */
export interface Documents {
  /** Is there a file at this path, from the root of the repository? */
  exists(path: string): boolean
  /** The headings of `src/rules.md`. */
  headings: readonly string[]
}

/** The headings of a text in Markdown below its title. */
export const headingsOf = (text: string): string[] =>
  Array.from(text.matchAll(/^## (.+)$/gm), ([, heading = '']) => heading)

/** Comments that cite a document which does not exist, or a heading which `src/rules.md` does not have; one line a citation. */
export function brokenCitations(files: ReadonlyMap<string, string>, { exists, headings }: Documents): string[] {
  return commentsOf(files).flatMap(({ path, line, comment }) => [
    ...Array.from(comment.matchAll(DOCUMENT), ([name]) => name)
      .filter((name) => !exists(name) && !exists(posix.join(posix.dirname(path), name)))
      .map((name) => `${path}:${line} cites ${name}, which is not in the repository`),
    ...citedRules(comment)
      .filter((rule) => !headings.some((heading) => rule.startsWith(heading)))
      .map((rule) => `${path}:${line} cites "${rule.slice(0, 40)}", which is no heading of src/rules.md`),
  ])
}

/** The headings that no comment cites. */
export function uncitedHeadings(files: ReadonlyMap<string, string>, headings: readonly string[]): string[] {
  const rules = commentsOf(files).flatMap(({ comment }) => citedRules(comment))
  return headings.filter((heading) => !rules.some((rule) => rule.startsWith(heading)))
}

/** The path of a document, unless it is part of an address on the web. */
const DOCUMENT = /(?<![\w./:-])[\w./-]*\w\.md\b/g

/** The text after the path of the rules and a comma, for each citation. */
const citedRules = (comment: string): string[] => comment.split('src/rules.md, ').slice(1)

/** Blocks, lines that are nothing but a comment, and comments behind code; a block or several lines as one text. */
const COMMENT = /(?<=^|\s)\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+|(?<=\s)\/\/ .*$/gm

function commentsOf(files: ReadonlyMap<string, string>) {
  return [...files].flatMap(([path, text]) =>
    Array.from(text.matchAll(COMMENT), ({ 0: comment, index }) => ({
      path,
      line: text.slice(0, index).split('\n').length,
      comment: comment.replace(/\n[ \t]*(?:\*|\/\/)?[ \t]*/g, ' '),
    })),
  )
}
