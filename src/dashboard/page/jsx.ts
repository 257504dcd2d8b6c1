/* What the build makes of tags: calls of these. */
export { Fragment, h } from 'preact'
