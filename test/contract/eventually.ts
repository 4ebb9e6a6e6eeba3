export { eventually } from '../../lib/testing/contract/eventually.js';
