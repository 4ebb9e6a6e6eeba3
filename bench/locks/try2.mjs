import { correctness } from './correctness.mjs';
import { selected } from './catalogue.mjs';
const t=Date.now();
console.log(JSON.stringify(await correctness(selected(process.argv[2]?.split(',')), (x)=>console.log(Math.round((Date.now()-t)/1000),x)),null,1)); console.log((Date.now()-t)/1000);
