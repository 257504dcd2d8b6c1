/* The build compiles JSX to calls of these. */
export { Fragment, h } from 'preact'
